import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (file: string | URL) => readFileSync(file, 'utf8');
const tokens = read(new URL('../../http/look/tokens.css', import.meta.url));
const pairs = [...tokens.matchAll(/(--[\w-]+): light-dark\((#\w+), (#\w+)\);/g)];
const light = new Map(pairs.map(([, name, value]) => [name, value]));
const dark = new Map(pairs.map(([, name, , value]) => [name, value]));

/** WCAG’s relative luminance of a colour such as #0b57a8. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test('what states mean is readable in light and dark', () => {
  for (const mode of [light, dark]) {
    const ground = luminance(mode.get('--ground') ?? '');
    for (const tone of ['new', 'kept', 'risk', 'lost', 'neutral']) {
      const [less = 0, more = 0] = [ground, luminance(mode.get(`--${tone}`) ?? '')].toSorted(
        (a, b) => a - b,
      );
      assert.ok((more + 0.05) / (less + 0.05) >= 4.5, tone);
    }
  }
});

test('style sheets name only colours and sizes that exist', () => {
  const root = new URL('../../', import.meta.url);
  const sheets = globSync('{owner,docs,http}/**/*.css', { cwd: root }).map((file) =>
    read(new URL(file, root)),
  );
  assert.ok(sheets.length > 8);
  const css = sheets.join('');
  const defined = new Set([...css.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
  const used = [...css.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name);
  assert.deepEqual(
    [...new Set(used)].filter((name) => !defined.has(name)),
    [],
  );
});
