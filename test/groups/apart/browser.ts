import { browserMissing, leaveBrowser, shareBrowser } from '../../support/browser.ts';
import { runTogether } from '../../support/together.ts';

// How pages look and move, in one Chromium, which no file is the last to leave.
if (browserMissing === false) await shareBrowser();
await runTogether(
  'test/docs/browser.test.ts',
  'test/owner/*-browser.test.ts',
  'test/owner/{sources,sso}/*browser.test.ts',
);
if (browserMissing === false) await leaveBrowser();
