import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suggest } from './suggest.ts';

const names = ['serve', 'migrate', 'shops list', 'shops create', 'keys', 'import', 'json'];

const meant: [typed: string, name: string | undefined][] = [
  ['srve', 'serve'],
  ['servve', 'serve'],
  ['sevre', 'serve'],
  ['sarve', 'serve'],
  ['migarte', 'migrate'],
  ['shop list', 'shops list'],
  ['shops lsit', 'shops list'],
  ['key', 'keys'],
  ['josn', 'json'],
  ['jso', 'json'],
  ['imprt', 'import'],
  ['serve', 'serve'],
  ['exports', undefined],
  ['list', undefined],
  ['k', undefined],
  ['', undefined],
];
for (const [typed, name] of meant) {
  test(`suggests ${name ?? 'nothing'} for "${typed}"`, () => {
    assert.equal(suggest(typed, names), name);
  });
}

test('suggests the nearest name, and the first of several that are equally near', () => {
  assert.equal(suggest('shops list', ['shop list', 'shops list']), 'shops list');
  assert.equal(suggest('aac', ['aab', 'aad']), 'aab');
});
