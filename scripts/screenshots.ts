/*
 * Takes the pictures in docs/images from the demo shop, and draws the icon that clients show: `npm run screenshots`. Needs the system's
 * Chromium; starts its own server on a temporary folder and a free port.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { icon } from '../src/http/look/look.ts';
import { startBrowser } from '../test/support/browser.ts';

const root = path.join(import.meta.dirname, '..');
const images = path.join(root, 'docs', 'images');
const password = 'a password for pictures';
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };

interface Picture {
  readonly name: string;
  /** Relative to /app/shops/1. */
  readonly path: string;
  readonly viewport: typeof wide;
  readonly colorScheme: 'light' | 'dark';
}

const pictures: readonly Picture[] = [
  { name: 'overview', path: '', viewport: { width: 1280, height: 1200 }, colorScheme: 'light' },
  { name: 'overview-dark', path: '', viewport: wide, colorScheme: 'dark' },
  { name: 'overview-phone', path: '', viewport: phone, colorScheme: 'light' },
  { name: 'subscriptions', path: '/subscriptions', viewport: wide, colorScheme: 'light' },
  { name: 'keys', path: '/keys', viewport: wide, colorScheme: 'light' },
];

const folder = mkdtempSync(path.join(tmpdir(), 'retention-screenshots-'));
const server = spawn(path.join(root, 'bin', 'retention'), ['demo'], {
  env: { PATH: process.env['PATH'], RETENTION_DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'error' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const ended = new Promise((resolve) => server.on('close', resolve));
try {
  const signInUrl = await readUntil(/http:\S+\/app\/links\/\S+/);
  const browser = await startBrowser();
  try {
    const context = await browser.newContext({ deviceScaleFactor: 1 });
    const page = await context.newPage();
    await page.goto(signInUrl);
    await page.getByLabel('New password').fill(password);
    await page.getByRole('button', { name: 'Accept' }).click();
    await useKey(page);
    mkdirSync(images, { recursive: true });
    for (const picture of pictures) await take(page, picture);
    await drawIcon(page);
  } finally {
    await browser.close();
  }
} finally {
  server.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true });
}

async function readUntil(pattern: RegExp): Promise<string> {
  let out = '';
  for await (const text of server.stdout.setEncoding('utf8')) {
    out += text;
    const [match] = pattern.exec(out) ?? [];
    // Closing the stream early does not end the server.
    if (match) return match;
  }
  throw new Error(`The server ended without printing ${pattern}: ${out}`);
}

/** Gives the keys page something to show. */
async function useKey(page: Page): Promise<void> {
  await page.goto(new URL('/app/shops/1/keys/new', page.url()).href);
  await page.getByLabel('Name').fill('Storefront');
  await page.getByLabel('See who is entitled right now').check();
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = (await page.locator('code', { hasText: /^rtn_/ }).first().textContent()) ?? '';
  const address = new URL('/api/external/v1/entitlements?customerId=1', page.url());
  for (let request = 0; request < 50; request += 1) {
    await fetch(address, { headers: { authorization: `Bearer ${key}` } });
  }
}

async function take(page: Page, { name, path: address, viewport, colorScheme }: Picture) {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize(viewport);
  await page.goto(new URL(`/app/shops/1${address}`, page.url()).href);
  await page.waitForLoadState('networkidle');
  await page.screenshot({ path: path.join(images, `${name}.png`) });
}

/** The mark in a size that lists of extensions ask for. */
async function drawIcon(page: Page): Promise<void> {
  const side = 512;
  await page.setViewportSize({ width: side, height: side });
  await page.goto('about:blank');
  await page.setContent(`<style>*{margin:0}svg{display:block;width:${side}px}</style>${icon}`);
  const file = path.join(root, 'src', 'mcp', 'presence', 'icon.png');
  await page.screenshot({ path: file, omitBackground: true });
}
