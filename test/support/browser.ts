import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

function findChromium(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'chromium'))
    .find((program) => existsSync(program));
}

/** The reason to skip what needs a browser; false where there is one. */
export const browserMissing: false | string =
  findChromium() === undefined && 'Chromium could not be had on this machine';

if (browserMissing !== false && process.env['CI']) {
  throw new Error('Chromium is not installed, and in CI no test may be skipped.');
}

/** For whatever is waited for on a page; only a page that lacks it takes as long. */
export const timeoutMilliseconds = 180_000;

/** The system's Chromium, without a window. */
export function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is not installed.');
  // Its sandbox does not work for root, nor in most containers; only our own pages are opened.
  return chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: timeoutMilliseconds });
}
