import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { runTogether } from '../../support/together.ts';

// What only a browser shows of keys: how owners get theirs, and sign in. Both files use one Chromium.
if (browserMissing === false) await shareBrowser();
await runTogether('test/owner/browser.test.ts', 'test/owner/factors/passkeys-browser.test.ts');
if (browserMissing === false) await leaveBrowser();
