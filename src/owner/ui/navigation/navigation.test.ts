import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageInfo } from '../../site.ts';
import { navigation } from '../page.ts';

const churn: PageInfo = {
  right: 'figures',
  path: '/churn',
  label: 'Churn',
  navigation: { group: 'Insights', icon: 'churn', isInBar: true },
};
const sources: PageInfo = {
  right: 'figures',
  path: '/sources',
  label: 'Sources',
  navigation: { group: 'Data', icon: 'sources' },
};
const hidden: PageInfo = { right: 'figures', path: '/sources/new', parent: '/sources' };
const account: PageInfo = { right: 'account', path: '/app/account', label: 'Account' };
const site = [churn, sources, hidden, account];

test('leads to every page of a shop once beside the page, and to those most used in the bar', () => {
  const [side = '', bar = ''] = navigation(site, sources, { id: 7, role: 'analyst' })
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

test('leaves out what the role may not open', () => {
  const forIntegration = { ...sources, right: 'integration' } as const;
  for (const [role, expected] of [
    ['owner', ['Churn', 'Sources']],
    ['developer', ['Sources']],
    ['analyst', ['Churn']],
  ] as const) {
    const [side = ''] = navigation([churn, forIntegration], undefined, { id: 7, role })
      .toString()
      .split('<ul class="bar">');
    const labels = [...side.matchAll(/<span>(\w+)<\/span>/g)].map(([, label]) => label);
    assert.deepEqual(labels, expected, role);
  }
});
