import { runTogether } from '../support/together.ts';

// Pages as HTML.
await runTogether('test/owner/**/!(*browser).test.ts');
