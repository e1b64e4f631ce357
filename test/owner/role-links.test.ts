import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inviteOwner } from '../../src/accounts/links.ts';
import { may } from '../../src/accounts/rights.ts';
import { type Role, roles } from '../../src/vocabulary.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type TestShop, type World, createShop, importAll, startWorld } from '../support/world.ts';
import { flowRecords, revenueRecords } from './insight-records.ts';
import { type Page, type Visitor, newEmail, password, signedInOwner, keyIdIn } from './visitor.ts';

/** What a page sends a visitor on to. */
interface Found {
  readonly links: readonly URL[];
  readonly forms: readonly { readonly action: URL; readonly fields: readonly Pair[] }[];
}
type Pair = readonly [name: string, value: string];

const attribute = (tag: string, name: string) =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]?.replaceAll('&amp;', '&');

/** The fields that a browser sends with a form as it stands, and the first button. */
function fieldsOf(markup: string): Pair[] {
  const inputs = [...markup.matchAll(/<input[^>]*>/g)].flatMap(([tag]): Pair[] => {
    const [name, type] = [attribute(tag, 'name'), attribute(tag, 'type')];
    const isChoice = type === 'radio' || type === 'checkbox';
    if (name === undefined || name === 'token' || (isChoice && !/\schecked/.test(tag))) return [];
    return [[name, attribute(tag, 'value') ?? '']];
  });
  const selects = [...markup.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)].map(
    ([, tag = '', options = '']): Pair => {
      const chosen = /<option value="([^"]*)" selected/.exec(options);
      const [, value = ''] = chosen ?? /<option value="([^"]*)"/.exec(options) ?? [];
      return [attribute(tag, 'name') ?? '', value];
    },
  );
  return [...inputs, ...selects];
}

function read(page: Page, at: URL): Found {
  const urlOf = (address: string) => new URL(address, at);
  const links = [...page.text.matchAll(/<(?:a|link)\s[^>]*>/g)].flatMap(([tag]) => {
    const href = attribute(tag, 'href');
    return href === undefined || href.startsWith('data:') ? [] : [urlOf(href)];
  });
  const forms = [...page.text.matchAll(/(<form[^>]*>)(.*?)<\/form>/gs)].flatMap(
    ([, tag = '', inner = '']) => {
      const fields = fieldsOf(inner);
      const id = attribute(tag, 'id');
      // Buttons that lead elsewhere, and those outside of their form.
      const buttons = [
        ...[...inner.matchAll(/<button[^>]*>/g)].map(([button]) => button),
        ...[...page.text.matchAll(/<button[^>]*>/g)]
          .map(([button]) => button)
          .filter((button) => id !== undefined && attribute(button, 'form') === id),
      ];
      return buttons.map((button) => {
        const name = attribute(button, 'name');
        const pressed: Pair[] = name ? [[name, attribute(button, 'value') ?? '']] : [];
        const action = attribute(button, 'formaction') ?? attribute(tag, 'action') ?? at.href;
        const isPost = attribute(tag, 'method') === 'post';
        return { action: urlOf(action), fields: [...fields, ...pressed], isPost };
      });
    },
  );
  const asked = forms
    .filter(({ isPost }) => !isPost)
    .map(({ action, fields }) =>
      urlOf(`${action.pathname}?${new URLSearchParams(fields.map(([...pair]) => pair))}`),
    );
  return { links: [...links, ...asked], forms: forms.filter(({ isPost }) => isPost) };
}

/** The role in another shop. */
const next = { owner: 'analyst', developer: 'owner', analyst: 'developer' } as const;

/** Forms that end what others need, or the session; in this order, after all others. */
const endings = [/\/revoke$/, /\/remove$/, /\/sessions$/, /\/leave$/, /\/sign-out/];
const placeOf = ({ pathname }: URL) => endings.findIndex((ending) => ending.test(pathname));

/**
 * Opens everything that pages lead to, from the first one on: each address with each of its parameters once. Then sends
 * each form that was seen.
 * @returns what was opened, and what answered that it does not exist or that the visitor may not
 */
async function crawl(visitor: Visitor, baseUrl: string) {
  const [seen, refused] = [new Set<string>(), [] as string[]];
  const forms = new Map<string, Found['forms'][number]>();
  const waiting = [new URL('/app', baseUrl)];
  for (let url = waiting.shift(); url; url = waiting.shift()) {
    const keys = [
      url.pathname,
      ...[...url.searchParams.keys()].map((key) => `${url?.pathname}?${key}`),
    ];
    const isOurs = url.origin === baseUrl && url.pathname.startsWith('/app');
    if (!isOurs || keys.every((key) => seen.has(key))) continue;
    for (const key of keys) seen.add(key);
    const page = await visitor.get(url.pathname + url.search);
    if (page.status === 403 || page.status === 404)
      refused.push(`${page.status} ${url.pathname}${url.search}`);
    if (page.location !== null) waiting.push(new URL(page.location, baseUrl));
    const found = read(page, url);
    waiting.push(...found.links);
    for (const form of found.forms) {
      const names = form.fields.map(([name]) => name).join();
      forms.set(`${form.action.pathname} ${names}`, form);
    }
  }
  const ordered = [...forms.values()].toSorted(
    (one, other) => placeOf(one.action) - placeOf(other.action),
  );
  const sent: string[] = [];
  for (const { action, fields } of ordered) {
    // Leaving the last shop, and signing out, end the session.
    if (!visitor.cookies.has('retention-session')) break;
    sent.push(action.pathname);
    const { status } = await visitor.post(action.pathname + action.search, fields);
    if (status === 403 || status === 404) refused.push(`${status} POST ${action.pathname}`);
  }
  return { opened: [...seen], sent, refused };
}

/** Where a role ends up on a tier without access, whatever the role. */
const isLocked = (address: string) => address.endsWith('/keys/new');

onOneDatabase('what pages lead to', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  /** @returns the paths below the shop's that were opened and sent */
  async function crawlAs(role: Role, shop: TestShop) {
    const { store, clock, service } = world;
    // Who is not the only owner may leave.
    const { visitor: owner } = await signedInOwner(world, { shopId: shop.id });
    await inviteOwner(store.write, clock, { shopId: shop.id, email: newEmail() });
    const home = `/app/shops/${shop.id}`;
    const form = await owner.get(`${home}/keys/new`);
    const id = keyIdIn(form);
    await owner.post(`${home}/keys`, { id, name: 'Till', scope: 'read:plans', expiry: '7' });
    // Now it expires so soon that it needs attention.
    clock.advance(60_000);
    const { visitor, email } = await signedInOwner(world, { shopId: shop.id, role });
    // The same page of another shop is not always open.
    const other = await createShop(store);
    const further = { shopId: other.id, email, role: next[role] };
    const { path } = await inviteOwner(store.write, clock, further);
    await visitor.get(path);
    assert.equal((await visitor.post(path, { password })).status, 303);
    const crawled = await crawl(visitor, service.baseUrl);
    const refused = crawled.refused.filter((each) => shop.tier !== 'free' || !isLocked(each));
    assert.deepEqual(refused, [], role);
    const paths = (all: readonly string[]) => all.map((each) => each.replace(home, ''));
    return { opened: paths(crawled.opened), sent: paths(crawled.sent) };
  }

  for (const role of roles) {
    test(`is open to the role ${role}, in a shop with data`, async () => {
      const shop = await createShop(world.store);
      const { refused } = await importAll(world.store, shop, [...revenueRecords, ...flowRecords]);
      assert.deepEqual(refused, []);
      const { opened, sent } = await crawlAs(role, shop);
      for (const path of ['', '/churn', '/recovery/open', '/subscriptions/1', '/churn.csv?table']) {
        assert.equal(opened.includes(path), path === '' || may(role, 'figures'), path);
      }
      assert.equal(opened.includes('/keys'), may(role, 'integration'));
      const end = (ending: string) => sent.some((path) => path.endsWith(ending));
      assert.equal(end('/revoke'), may(role, 'integration'));
      assert.equal(end('/rotate'), may(role, 'ownership'));
      assert.equal(end('/remove'), may(role, 'ownership'));
      assert.ok(end('/leave'));
    });

    test(`is open to the role ${role}, in a shop without data, of a tier with and without access`, async () => {
      for (const tier of ['free', 'growth'] as const) {
        await crawlAs(role, await createShop(world.store, { tier }));
      }
    });
  }
});
