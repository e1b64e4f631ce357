import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { runTogether } from '../../support/together.ts';

// Pages in one Chromium, which no file is the last to leave.
if (browserMissing === false) await shareBrowser();
await runTogether('test/**/*browser.test.ts');
if (browserMissing === false) await leaveBrowser();
