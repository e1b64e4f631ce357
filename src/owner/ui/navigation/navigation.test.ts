import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shopPages } from '../layout.ts';
import { navigation } from './navigation.ts';

test('leads to every page of a shop once beside the page, and to those most used in the bar', () => {
  const links = Object.fromEntries(
    Object.entries(shopPages).map(([name, { label }]) => [name, { href: `/app/${name}`, label }]),
  );
  const [side = '', bar = ''] = navigation(links, 'sources').toString().split('<ul class="bar">');
  for (const name of Object.keys(shopPages)) {
    assert.equal(side.split(`href="/app/${name}"`).length - 1, 1, name);
  }
  assert.match(bar, /href="\/app\/overview"/);
  assert.doesNotMatch(bar, /href="\/app\/sources"/);
  assert.equal(side.match(/aria-current="page"/g)?.length, 1);
  assert.match(bar, /class="current"/);
});

test('leads to the owner’s shops and account on pages of no shop', () => {
  const markup = navigation({}, 'shops').toString();
  assert.match(markup, /href="\/app\/shops"\s+aria-current="page"/);
  assert.doesNotMatch(markup, /More|<p>/);
});
