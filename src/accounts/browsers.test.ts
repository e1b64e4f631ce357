import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from './browsers.ts';

const mozilla = (system: string, rest: string) => `Mozilla/5.0 (${system}) ${rest}`;
const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const mac = 'Macintosh; Intel Mac OS X 10_15_7';
const iphone = 'iPhone; CPU iPhone OS 18_5 like Mac OS X';

test('says what a browser is by what only it writes', () => {
  for (const [userAgent, words] of [
    [
      mozilla('Windows NT 10.0; Win64; x64; rv:140.0', 'Gecko/20100101 Firefox/140.0'),
      'Firefox on Windows',
    ],
    [
      mozilla(
        'Windows NT 10.0; Win64; x64',
        `${webkit} Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0`,
      ),
      'Edge on Windows',
    ],
    [mozilla(mac, `${webkit} Chrome/138.0.0.0 Safari/537.36`), 'Chrome on macOS'],
    [mozilla(mac, `${webkit} Version/18.5 Safari/605.1.15`), 'Safari on macOS'],
    [mozilla(iphone, `${webkit} Version/18.5 Mobile/15E148 Safari/604.1`), 'Safari on iPhone'],
    [
      mozilla(iphone, `${webkit} CriOS/138.0.7204.53 Mobile/15E148 Safari/604.1`),
      'Chrome on iPhone',
    ],
    [
      mozilla(
        'Linux; Android 10; K',
        `${webkit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
      ),
      'Samsung Internet on Android',
    ],
    [
      mozilla('X11; Linux x86_64', `${webkit} Chrome/138.0.0.0 Safari/537.36 OPR/120.0.0.0`),
      'Opera on Linux',
    ],
    [
      mozilla('X11; CrOS x86_64 14541.0.0', `${webkit} Chrome/138.0.0.0 Safari/537.36`),
      'Chrome on ChromeOS',
    ],
    ['Mozilla/5.0 (X11; Linux x86_64) Unheard/1.0', 'Linux'],
    ['curl/8.14.1', undefined],
    ['', undefined],
    [undefined, undefined],
  ] as const) {
    assert.equal(browserOf(userAgent), words, userAgent ?? 'none');
  }
});
