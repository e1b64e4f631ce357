import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** The first has no windows, whose parts take a third of the processor in the other. */
const programs = ['chromium-headless-shell', 'chromium'];

function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  return programs
    .flatMap((program) => folders.map((folder) => path.join(folder, program)))
    .find((file) => existsSync(file));
}

/** Why tests that need a browser are skipped; false if there is one. */
export const browserMissing: false | string =
  findChromium() === undefined && 'Chromium is not available on this machine';

if (browserMissing !== false && process.env['CI']) {
  throw new Error('Chromium is not installed, and in CI no test may be skipped.');
}

/** For anything awaited on a page; reached only if the page never gets it. */
export const timeoutMilliseconds = 180_000;

/** The system's Chromium, headless. */
export function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is not installed.');
  const args = [
    // The sandbox does not work for root or in most containers; only our own pages are opened.
    '--no-sandbox',
    // Scripts run too shortly for optimised code to repay its compilation, a tenth of the processor time.
    '--js-flags=--no-opt,--no-maglev',
  ];
  return chromium.launch({ executablePath, args, timeout: timeoutMilliseconds });
}

let users = 0;
let shared: Promise<Browser> | undefined;

/** The one browser of all tests in this process, until as many have left it. Each page has a context of its own. */
export function shareBrowser(): Promise<Browser> {
  users += 1;
  return (shared ??= startBrowser());
}

/** The last one closes the browser, which would keep the process from ending. */
export async function leaveBrowser(): Promise<void> {
  users -= 1;
  if (users > 0) return;
  await (await shared)?.close();
  shared = undefined;
}
