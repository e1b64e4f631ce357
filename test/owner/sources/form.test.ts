import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unread } from '../../../src/platforms/streams.ts';
import { deleteStreams, upsertStreams } from '../../../src/store/feeds/streams.ts';
import type { Store } from '../../../src/store/open.ts';
import {
  deleteConnection,
  findConnection,
  findSyncState,
  upsertConnection,
} from '../../../src/store/feeds/platforms.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { findPostgresPrograms } from '../../support/postgres.ts';
import { importAll } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { planStream, subscriptionStream } from '../../feeds/postgres/source.ts';
import { type Pasting, startPasting, streams } from './pasting.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

onOneDatabase('pasting what connects a platform', (open) => {
  let store: Store;
  const started: Pasting[] = [];
  before(() => {
    store = open();
  });
  after(async () => {
    for (const each of started) await each.close();
    await store.close();
  });
  async function start(options?: Parameters<typeof startPasting>[1]) {
    const pasting = await startPasting(store, options);
    started.push(pasting);
    return pasting;
  }

  test('leads from the address over a rehearsal to the figures', { skip }, async () => {
    const {
      sources,
      form,
      check,
      show,
      paste,
      rehearsed,
      start: press,
      sync,
      visitor,
      ...rest
    } = await start();
    const { shop, account } = rest;
    assert.match(await show(sources), /PostgreSQL Not connected .* Connect PostgreSQL/);
    assert.match(
      await show(form),
      /Connect PostgreSQL .* login that may only read .* For your developer/,
    );
    assert.equal((await paste()).location, check);

    // Figures replace it, also without a click.
    const running = (await visitor.get(check)).text;
    assert.match(running, /<section[^>]* data-refresh>/);
    assert.match(plain(running), /rehearsed in a copy of your shop\. Show the figures/);
    const page = plain((await rehearsed()).text);
    assert.ok(page.includes(`What was found ${account}`), page);
    assert.match(
      page,
      /charges payments changes, by at subscriptions subscriptions changes, by updated_at plans/,
    );
    assert.match(page, /Active subscribers 0 1 .*recurring revenue \$0\.00 \$50\.00/);
    assert.match(page, /Subscriptions 3 0 0 0 0 0/);
    assert.match(page, /The first subscriptions .* s-1 active 2026-01-05/);
    assert.match(await show(sources), /Waiting for you .* Check and start/);
    // Not before its owner starts it.
    await sync();
    assert.equal(
      await findSyncState(store.write, shop.id, 'postgres').then((state) => state?.problem),
      null,
    );
    assert.doesNotMatch(await show(sources), /What is read from/);

    assert.equal((await press()).location, `${sources}?done=connected`);
    await sync();
    const current = await show(sources);
    assert.match(current, /Up to date Last synced less than a minute ago/);
    assert.match(current, /charges payments less than a minute ago 2/);
    assert.match(current, /Payments, plans and subscriptions come from PostgreSQL \(.*\) only/);
    assert.equal((await press()).location, sources);
  });

  test(
    'says beside the field what is wrong, and never shows the address again',
    { skip },
    async () => {
      const { form, paste, source, visitor, check, sources, logLines, shop, rehearsed } =
        await start();
      type Field = 'url' | 'streams';
      const cases: readonly (readonly [Partial<Record<Field, string>>, RegExp, Field?])[] = [
        [
          { url: 'mysql://reader:secret@db.example.com/x' },
          /This must be an address such as postgres:/,
        ],
        [{ url: '' }, /This is needed\./],
        [{ streams: '{' }, /This is not JSON\./, 'streams'],
        [{ streams: '{"streams":[{"name":"a"}]}' }, /Streams\[0\]\.query/, 'streams'],
        [{ url: source.url.replace('reader', 'nobody') }, /does not accept the login/],
        [
          { url: source.url.replace(/@[^/]+/, '@10.0.0.1:5432') },
          /has no address that may be used/,
        ],
        [
          { streams: JSON.stringify([{ ...streams[0], query: 'select 1 as one' }]) },
          /stream charges: its query has no column/,
          'streams',
        ],
        [
          { streams: JSON.stringify([{ ...streams[0], query: 'select one from nowhere' }]) },
          /stream charges: PostgreSQL at .* says: relation "nowhere" does not exist/,
          'streams',
        ],
        [
          { streams: JSON.stringify([{ ...streams[0], mapping: 'none-such' }]) },
          /stream charges: there is no mapping "none-such"/,
          'streams',
        ],
        [
          { streams: JSON.stringify([{ ...streams[0], mapping: { records: 1 } }]) },
          /mapping of stream charges/,
          'streams',
        ],
      ];
      for (const [fields, reason, field = 'url'] of cases) {
        const page = await paste(fields);
        assert.equal(page.status, 422, page.text);
        assert.match(plain(page.text), reason);
        const [, about] = /aria-describedby="postgres-(\w+)-problem[^>]*aria-invalid="true"/.exec(
          page.text,
        ) ?? [undefined];
        assert.equal(about, field, String(reason));
        assert.doesNotMatch(page.text, /of%20a%20reader|of a reader|secret@/);
      }
      await source.owner.script(`grant insert on plans to ${source.reader}`);
      assert.match(plain((await paste()).text), /may insert into public\.plans/);
      await source.owner.script(`revoke insert on plans from ${source.reader}`);
      assert.equal((await paste()).location, check);
      await rehearsed();
      const pages = [form, check, sources, `${sources}/postgres/disconnect`];
      const told = await Promise.all(pages.map(async (at) => (await visitor.get(at)).text));
      const stored = JSON.stringify(await findConnection(store.write, shop.id, 'postgres'));
      for (const each of [...told, ...logLines, stored]) {
        assert.doesNotMatch(each, /of%20a%20reader|of a reader|secret@/);
      }
      assert.ok(logLines.some((line) => line.includes('shop not connected')));
    },
  );

  test('looks at the tables where no streams are given', { skip }, async () => {
    const { paste, check, form, rehearsed, show, visitor } = await start();
    assert.equal((await paste({ streams: '' })).location, check);
    const page = plain((await rehearsed()).text);
    assert.match(page, /What was found .* Not sure .* Figures before and after/);
    // What was suggested is looked at again when its address is pasted again, and stays unsure.
    const shown = (await visitor.get(form)).text;
    const [, suggested = ''] =
      /<textarea[^>]*name="streams"[^>]*>(.*?)<\/textarea>/s.exec(shown) ?? [];
    assert.match(suggested, /subs/);
    assert.equal((await paste({ streams: plain(suggested) })).location, check);
    assert.match(await show(check), /What was found .* Not sure/);
    assert.match(await show(form), /"query": \[ "select/);
  });

  test('starts without prices only if its owner says so', { skip }, async () => {
    const { paste, rehearsed, start: press, show, sources, check } = await start();
    const given = JSON.stringify([subscriptionStream, planStream]);
    const unpriced = given.replace('"currentPrice":"price"', '"currentPrice":{"value":0}');
    assert.equal((await paste({ streams: unpriced })).location, check);
    const page = plain((await rehearsed()).text);
    assert.match(
      page,
      /No prices were found .* would be 0: .*recurring revenue.* Start without prices/,
    );
    const refused = await press();
    assert.equal(refused.status, 422);
    assert.match(plain(refused.text), /Tick “Start without prices”, or choose “Change”/);
    assert.equal((await press({ 'without-prices': 'yes' })).location, `${sources}?done=connected`);
    assert.doesNotMatch(await show(sources), /Waiting for you/);
  });

  test('says of each stream only what it brings', { skip }, async () => {
    const { source, paste, check, show } = await start({ rehearses: false });
    await source.owner.script(
      `create table fees (id text primary key, object text); grant select on fees to ${source.reader}`,
    );
    const fees = {
      name: 'fees',
      query: ['select *', 'from fees'],
      key: ['id'],
      mapping: 'stripe-objects',
    };
    const ofRefunds = { ...fees, types: ['refund'] };
    assert.equal((await paste({ streams: JSON.stringify([ofRefunds]) })).location, check);
    assert.match(await show(check), /fees refunds all rows/);
    const none = await paste({ streams: JSON.stringify([{ ...fees, types: ['cancellation'] }]) });
    assert.match(plain(none.text), /[Ss]tream fees: its mapping makes no cancellation\./);
  });

  test('asks before it takes over what came from elsewhere', { skip }, async () => {
    const pasting = await start();
    const { shop, paste, rehearsed, start: press, sync, show, sources } = pasting;
    const old = { type: 'plan', id: 5, name: 'Old', planType: 'subscription' };
    await importAll(store, shop, [{ ...old, intervalUnit: 'month', intervalCount: 1 }]);
    await paste();
    assert.match(
      plain((await rehearsed()).text),
      /This shop already has plans .* Let PostgreSQL take them over/,
    );
    const refused = await press();
    assert.equal(refused.status, 422);
    assert.match(plain(refused.text), /Tick “Let PostgreSQL take them over”, or choose “Remove”\./);
    assert.equal((await press({ 'take-over': 'yes' })).location, `${sources}?done=connected`);
    await sync();
    assert.match(await show(sources), /Up to date/);
    const state = await findSyncState(store.write, shop.id, 'postgres');
    assert.deepEqual([state?.takesOver, state?.problem], [false, null]);
  });

  test('does not start what another platform keeps up', { skip }, async () => {
    const pasting = await start({ rehearses: false });
    const { shop, paste, start: press, show, check, sources } = pasting;
    await paste();
    const stream = unread('acct_1', { name: 'subscriptions', types: ['plan', 'subscription'] });
    const [connectedAt, account] = [new Date(), 'acct_1'];
    await store.write.begin((tx) =>
      upsertConnection(tx, 'stripe', { shopId: shop.id, account, credentials: '', connectedAt }),
    );
    await upsertStreams(store.write, shop.id, 'stripe', [{ ...stream, readAt: connectedAt }]);
    assert.match(await show(check), /plans and subscriptions of this shop come from Stripe/);
    const refused = await press({ 'take-over': 'yes' });
    assert.equal(refused.status, 422);
    assert.match(plain(refused.text), /Disconnect Stripe first: it brings the plans and subscript/);
    await store.write.begin((tx) => deleteConnection(tx, shop.id, 'stripe'));
    assert.equal((await press()).location, `${sources}?done=connected`);
  });

  test('replaces an address, keeps the data, and keeps what was left empty', { skip }, async () => {
    const pasting = await start({ rehearses: false });
    const { paste, start: press, sync, show, sources, source, form } = pasting;
    await paste();
    await press();
    await sync();
    await source.admin.script(`alter role ${source.reader} password 'another'`);
    await sync();
    const fields = { url: source.url.replace('of%20a%20reader', 'another') };
    assert.match(await show(form), /Replace address of PostgreSQL The data that is here stays/);
    assert.equal((await paste(fields)).location, `${sources}?done=replaced`);
    await sync();
    assert.match(await show(sources), /Up to date/);
    assert.equal((await paste({ url: '' })).location, `${sources}?done=replaced`);
    // The same server by another name.
    const moved = await paste({ url: fields.url.replace('127.0.0.1', 'localhost') });
    assert.equal(moved.location, `${sources}?done=replaced`, moved.text);
    await sync();
    assert.match(await show(sources), /Up to date .* localhost:/);
  });

  test('says why a sync fails and which records are refused', { skip }, async () => {
    const {
      paste,
      start: press,
      sync,
      show,
      sources,
      source,
      shop,
      visitor,
    } = await start({ rehearses: false });
    await paste();
    await press();
    assert.match(
      (await visitor.get(sources)).text,
      /data-refresh[^>]*>\s*Everything is being fetched/,
    );
    const stream = unread('', { name: 'charges', types: ['payment'] });
    await upsertStreams(store.write, shop.id, 'postgres', [{ ...stream, rows: 1250 }]);
    assert.match(
      await show(sources),
      /large shop: 1,250 rows so far\. .* Last read Rows so far charges payments Being read 1,250/,
    );
    await store.write.begin((tx) => deleteStreams(tx, shop.id, 'postgres'));
    await source.owner.script(`update charges set amount = -1 where id = 'p-1'`);
    await sync();
    const text = await show(sources);
    assert.match(text, /1 record was refused less than a minute ago .* 1 × charges: column amount/);
    await source.owner.script('alter table charges rename column amount to total');
    await store.write`update platforms.syncs set due_at = now() where shop_id = ${shop.id}`;
    await sync();
    assert.match(
      await show(sources),
      /Sync failed The last sync failed: stream charges: its query has no column amount/,
    );
    assert.match((await visitor.get(sources)).text, /<button>Try again<\/button>/);
    await source.owner.script('alter table charges rename column total to amount');
    await sync();
    assert.match(await show(sources), /Sync failed/);
    await visitor.post(`${sources}/postgres/retry`);
    const { text: trying } = await visitor.get(sources);
    assert.match(trying, /data-refresh/);
    assert.match(plain(trying), /Trying again .* The next attempt begins within seconds/);
    assert.doesNotMatch(trying, /<button>Try again/);
    await sync();
    assert.match(await show(sources), /Up to date/);
    // One that succeeded is not repeated.
    await visitor.post(`${sources}/postgres/retry`);
    const state = await findSyncState(store.write, shop.id, 'postgres');
    assert.ok(state && state.dueAt.getTime() > Date.now());
  });

  test('removes what was pasted and never started, as such', { skip }, async () => {
    const { paste, show, sources, visitor, shop } = await start({ rehearses: false });
    await paste();
    const remove = `${sources}/postgres/disconnect`;
    const question = await show(remove);
    assert.match(question, /Remove address\? Nothing was read from .* into this shop yet\./);
    assert.doesNotMatch(question, /Disconnect|arrive/);
    assert.equal((await visitor.post(remove)).location, `${sources}?done=removed`);
    assert.match(await show(`${sources}?done=removed`), /Removed\. Nothing was connected/);
    assert.equal(await findConnection(store.write, shop.id, 'postgres'), undefined);
  });

  test('says what to do about too long a text, and after the session ended', { skip }, async () => {
    const { paste, visitor, form, source } = await start({ rehearses: false });
    const long = await paste({ streams: ' '.repeat(1_500_000) });
    assert.equal(long.status, 413);
    assert.match(plain(long.text), /takes at most 256 KB, .* Go back and shorten it\./);
    await visitor.get(form);
    visitor.cookies.clear();
    const late = await visitor.post(form, { url: source.url });
    assert.equal(late.status, 403);
    assert.match(plain(late.text), /You were signed out before this form was sent\. Sign in/);
    assert.ok(late.text.includes(`/app/sign-in?${new URLSearchParams({ next: form })}`));
  });

  test('needs the operator’s key for credentials', { skip }, async () => {
    const { show, sources, form, visitor } = await start({ credentialsKeys: [] });
    assert.match(
      await show(`${sources}#postgres`),
      /PostgreSQL Not available You cannot connect PostgreSQL yet.* set CREDENTIALS_KEY/,
    );
    assert.equal((await visitor.get(form)).status, 404);
  });
});
