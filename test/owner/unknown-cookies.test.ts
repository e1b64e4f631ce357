import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openLink } from '../../src/accounts/links.ts';
import { TooBusy } from '../../src/accounts/password-queue.ts';
import {
  newSecret,
  createAccounts,
  findBySecret,
  openSession,
} from '../../src/accounts/sessions.ts';
import { FixedClock } from '../../src/clock.ts';
import type { Sql } from '../../src/store/database.ts';
import type { Store } from '../../src/store/open.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type World, now, silentLog, startTestService, startWorld } from '../support/world.ts';
import { Visitor, newAddress, password, signedInOwner } from './visitor.ts';

/** The same store, with the number of statements so far that read a table. */
function counted(store: Store): { store: Store; reads(table: string): number } {
  const texts: string[] = [];
  const write = new Proxy(store.write, {
    apply(target, self, parts) {
      texts.push(parts[0].join('?'));
      return Reflect.apply(target, self, parts);
    },
  }) as Sql;
  return {
    store: { ...store, write },
    reads: (table) => texts.filter((text) => text.includes(`from owners.${table}`)).length,
  };
}

onOneDatabase('cookies and links that do not exist', (open) => {
  let world: World;
  let reads: (table: string) => number;
  const clock = new FixedClock(now);
  before(async () => {
    const { store, ...counter } = counted(open());
    reads = counter.reads;
    world = await startWorld(store, { clock });
  });
  after(() => world.close());

  const flood = async (visitor: Visitor, count: number) => {
    for (let sent = 0; sent < count; sent += 1) {
      visitor.cookies.set('retention-session', newSecret());
      assert.equal((await visitor.get('/app/shops')).status, 303);
    }
  };
  const isSignedIn = async (visitor: Visitor) => (await visitor.get('/app/shops')).status === 200;

  test('looks up a hundred sessions of a network, then one every 10 ms', async () => {
    const { baseUrl } = world.service;
    const [here, elsewhere] = [newAddress(), newAddress()];
    const { visitor } = await signedInOwner(world);
    const owner = visitor.copy(here);
    const readBefore = reads('sessions');
    await flood(new Visitor(baseUrl, here), 130);
    assert.equal(reads('sessions') - readBefore, 100);

    // An owner who was seen here before is not refused, nor is anybody else's network.
    assert.ok(await isSignedIn(owner));
    assert.equal(reads('sessions') - readBefore, 101);
    await flood(new Visitor(baseUrl, elsewhere), 1);
    assert.equal(reads('sessions') - readBefore, 102);
    clock.advance(10);
    await flood(new Visitor(baseUrl, here), 2);
    assert.equal(reads('sessions') - readBefore, 103);
    // Nor do they stop the documentation from being shown.
    const docs = await new Visitor(baseUrl, here).get('/docs');
    assert.equal(docs.status, 200);
    clock.advance(1000);
  });

  test('an owner whom the process has not seen can sign in from the network of a flood', async () => {
    const here = newAddress();
    const { email, visitor } = await signedInOwner(world);
    const restarted = await startTestService(world.store, { clock });
    try {
      const owner = visitor.at(restarted.baseUrl, here);
      await flood(new Visitor(restarted.baseUrl, here), 100);
      assert.ok(!(await isSignedIn(owner)));
      await owner.get('/app/sign-in');
      assert.equal((await owner.post('/app/sign-in', { email, password })).status, 303);
      assert.ok(await isSignedIn(owner));
      assert.ok(await isSignedIn(visitor.at(restarted.baseUrl, newAddress())));
    } finally {
      await restarted.close();
    }
  });

  test('looks up many sessions and browsers at once in one statement', async () => {
    const accounts = createAccounts(world.store.write, clock, silentLog);
    for (const [table, find] of [
      ['sessions', (secret: string, client: string) => openSession(accounts, secret, client)],
      [
        'devices',
        (secret: string, client: string) => findBySecret(accounts.devices, secret, client),
      ],
    ] as const) {
      const readBefore = reads(table);
      const found = await Promise.all(
        Array.from({ length: 250 }, (_, index) => find(newSecret(), `network ${index}`)),
      );
      assert.deepEqual(new Set(found), new Set([undefined]));
      assert.equal(reads(table) - readBefore, 3);
      await Promise.all(Array.from({ length: 250 }, () => find(newSecret(), `one for ${table}`)));
      assert.equal(reads(table) - readBefore, 4);
    }
  });

  test('looks up a hundred links of a network, then answers that it is busy', async () => {
    const client = newAddress();
    const accounts = createAccounts(world.store.write, clock, silentLog);
    const readBefore = reads('links');
    for (let sent = 0; sent < 100; sent += 1) {
      assert.equal(await openLink(accounts, newSecret(), client), undefined);
    }
    await assert.rejects(openLink(accounts, newSecret(), client), TooBusy);
    assert.equal(reads('links') - readBefore, 100);
    const visitor = new Visitor(world.service.baseUrl, newAddress());
    for (let sent = 0; sent < 50; sent += 1) {
      assert.equal((await visitor.get(`/app/links/${newSecret()}`)).status, 404);
      assert.equal((await visitor.get(`/app/unsubscribe/${newSecret()}`)).status, 404);
    }
    for (const path of ['links', 'unsubscribe']) {
      assert.equal((await visitor.get(`/app/${path}/${newSecret()}`)).status, 503);
    }
  });
});
