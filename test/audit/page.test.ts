import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Actor, visitor as stranger } from '../../src/acts.ts';
import { type Happened, appendEntry } from '../../src/store/owners/audit.ts';
import { findOwnerByEmail } from '../../src/store/owners/owners.ts';
import { csvRows } from '../owner/csv-rows.ts';
import { rowsOf } from '../owner/page-text.ts';
import { type Visitor, removeOwner, signedInOwner } from '../owner/visitor.ts';
import { auditOf } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, now, startWorld } from '../support/world.ts';

const hour = 3_600_000;
const ago = (hours: number) => new Date(Date.parse(now) - hours * hour);

onOneDatabase('the page of the audit log', (open) => {
  let world: World;
  let visitor: Visitor;
  let email: string;
  let gone: string;
  let path: string;
  let theirs: string;
  before(async () => {
    world = await startWorld(open());
    const { store, shop } = world;
    ({ visitor, email } = await signedInOwner(world));
    const { email: left } = await signedInOwner(world);
    const idOf = async (of: string) => (await findOwnerByEmail(store.write, of))?.ownerId ?? '';
    const other = await createShop(store);
    path = `/app/shops/${shop.id}/audit`;
    theirs = `/app/shops/${other.id}/audit`;
    gone = await idOf(left);
    const owner = {
      who: `owner ${await idOf(email)}`,
      session: 'abcdef012345',
      network: '203.0.113.0/24',
    };
    const append = (shopId: number, hours: number, by: Actor, rest: Partial<Happened>) =>
      appendEntry(store.write, shopId, { at: ago(hours), by, what: 'tier_set', ...rest });
    await append(shop.id, 2, owner, {
      what: 'key_created',
      target: 'key_0123456789abcdef Till <1>',
    });
    await append(shop.id, 3, { who: `owner ${gone}` }, { what: 'signed_in' });
    await append(shop.id, 4, stranger(null), { what: 'sign_in_failed', target: owner.who });
    await append(
      shop.id,
      5,
      { who: 'platform shopify' },
      { what: 'key_uninstalled', target: 'key_0123456789abcdef Till' },
    );
    const command = { who: 'command line', session: 'shops set-tier' };
    await append(shop.id, 24 * 40, command, { target: 'pro' });
    await append(other.id, 2, owner, { target: 'theirs' });
    await removeOwner(store, left, shop.id);
  });
  after(() => world.close());

  const see = async (query: string) => rowsOf((await visitor.get(`${path}${query}`)).text);

  test('has each entry in words, without what was before the period', async () => {
    assert.deepEqual(
      (await see('')).map(([what, who]) => [what, who]),
      [
        ['Created the key Till <1> (key_0123456789abcdef)', email],
        ['Signed in', 'A former member'],
        [`Gave a wrong password for ${email}`, 'Somebody not signed in'],
        ['Revoked the key Till (key_0123456789abcdef), because the app was uninstalled', 'Shopify'],
      ],
    );
    const all = await see('?days=90');
    assert.deepEqual(all.at(-1)?.slice(0, 2), [
      'Moved the shop to the tier pro',
      'The command line',
    ]);
    const { text } = await visitor.get(path);
    assert.match(text, /203\.0\.113\.0\/24/);
    assert.match(text, /abcdef012345/);
    assert.match(text, /<strong>4 entries<\/strong>/);
    assert.doesNotMatch(text, /the period before/);
  });

  test('filters by who and what, on the page and in the file, whose export is an entry', async () => {
    const [first] = (await see(`?who=owner+${gone}`)).map(([what]) => what);
    assert.equal(first, 'Signed in');
    assert.deepEqual(
      (await see('?what=key_created')).map(([, who]) => who),
      [email],
    );
    assert.equal((await see('?what=key_created&who=visitor')).length, 0);
    const exports = async () =>
      (await auditOf(world.store.write, world.shop.id, 'rows_exported')).map(
        ({ target }) => target,
      );
    assert.deepEqual(await exports(), []);
    const file = csvRows((await visitor.get(`${path}.csv?what=key_created`)).text);
    assert.deepEqual(
      file.map((row) => [row['Who'], row['What'], row['Target'], row['Network'], row['Session']]),
      [[email, 'key_created', 'key_0123456789abcdef Till <1>', '203.0.113.0/24', 'abcdef012345']],
    );
    assert.deepEqual(await exports(), ['audit']);
    // What leads back to the page is no file.
    assert.equal((await visitor.get(`${path}.csv?what=nothing`)).status, 303);
    assert.deepEqual(await exports(), ['audit']);
    await visitor.get(`/app/shops/${world.shop.id}/cohorts/2026-01/customers.csv`);
    assert.deepEqual(await exports(), ['audit', 'cohorts/2026-01/customers']);
  });

  test('explains a filter that there is not', async () => {
    const page = await visitor.get(`${path}?what=nothing`);
    assert.equal(page.status, 400);
    assert.match(page.text, /“nothing” is not [^<]*Choose /);
  });

  test('is only that of the owner’s own shops', async () => {
    assert.equal((await visitor.get(theirs)).status, 404);
    assert.equal((await visitor.get(`${theirs}.csv`)).status, 404);
    assert.doesNotMatch((await visitor.get(`${path}?days=365`)).text, /theirs/);
  });

  test('is in the navigation and in the search', async () => {
    const { text } = await visitor.get(`/app/shops/${world.shop.id}`);
    assert.match(text, new RegExp(`href="${path}"[^>]*>.*?<span>Audit log</span>`, 's'));
    const found = await visitor.get(`/app/shops/${world.shop.id}/search?q=audit`);
    assert.match(found.text, new RegExp(`href="${path}"`));
  });
});
