import { runTogether } from '../../support/together.ts';

// Uploads and connections of owners: most of the work is done by processes of their own.
await runTogether('test/owner/sources/!(*browser|upload-limits).test.ts');
