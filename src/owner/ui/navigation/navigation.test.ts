import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageInfo } from '../../site.ts';
import { navigation } from '../navigation.ts';

const churn: PageInfo = {
  right: 'shop',
  path: '/churn',
  label: 'Churn',
  navigation: { group: 'Insights', icon: 'churn', isInBar: true },
};
const sources: PageInfo = {
  right: 'shop',
  path: '/sources',
  label: 'Sources',
  navigation: { group: 'Data', icon: 'sources' },
};
const hidden: PageInfo = { right: 'shop', path: '/sources/new', parent: '/sources' };
const account: PageInfo = { right: 'owner', path: '/app/account', label: 'Account' };
const site = [churn, sources, hidden, account];

test('leads to every page of a shop once beside the page, and to those most used in the bar', () => {
  const [side = '', bar = ''] = navigation(site, sources, { id: 7 })
    .toString()
    .split('<ul class="bar">');
  const pathsIn = (markup: string) =>
    [...markup.matchAll(/href="([^"]*)"/g)].map(([, path]) => path);
  assert.deepEqual(pathsIn(side), ['/app/shops/7/churn', '/app/shops/7/sources']);
  assert.deepEqual(pathsIn(bar), ['/app/shops/7/churn']);
  assert.deepEqual(
    [...side.matchAll(/<p>(\w+)/g)].map(([, heading]) => heading),
    ['Insights', 'Data'],
  );
  assert.match(side, /href="\/app\/shops\/7\/sources"\s+aria-current="page"/);
  assert.match(bar, /class="current"/);
});
