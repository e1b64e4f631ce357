import { runTogether } from '../../support/together.ts';

// The owner’s pages as HTML and CSV.
await runTogether('test/owner/!(sources)/**/!(*browser).test.ts', 'test/owner/!(*browser).test.ts');
