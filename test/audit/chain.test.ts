import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pruneChain, verifyChain } from '../../src/accounts/audit/chain.ts';
import { visitor } from '../../src/acts.ts';
import type { Sql } from '../../src/store/database.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { appendEntry, appendOmitted, findAuditHead } from '../../src/store/owners/audit.ts';
import { auditOf } from '../support/audit.ts';
import { onEveryDatabase } from '../support/databases.ts';
import { createShop, now } from '../support/world.ts';

const at = new Date(now);
const by = { who: 'command line', session: 'shops set-tier' };
const minutes = (count: number) => new Date(at.getTime() + count * 60_000);

onEveryDatabase('a chain of the audit log', (open, name) => {
  let store: Store;
  let sql: Sql;
  before(() => {
    store = open();
    sql = store.write;
  });
  after(() => store.close());

  const append = (shopId: number, target: string, when = at) =>
    appendEntry(sql, shopId, { at: when, by, what: 'tier_set', target });

  async function shopWithEntries(count: number) {
    const { id } = await createShop(store);
    for (let number = 1; number <= count; number += 1) {
      await append(id, `tier ${number}`, minutes(number));
    }
    return id;
  }

  async function verify(shopId: number, keys: readonly Buffer[] = []) {
    const seen = new Set<string>();
    const { problems } = await verifyChain(sql, shopId, { keys, seen: (hash) => seen.add(hash) });
    return { problems, seen };
  }

  /** Changes what is stored as somebody who may do anything with the database. */
  const tamper = (statement: string, shopId: number) =>
    sql.begin(async (tx) => {
      await tx.script(`
        set local citus.propagate_set_commands = 'local';
        set local session_replication_role = replica`);
      await tx.unsafe(statement, [shopId]);
    });

  test('has each entry once, in order, when 20 are appended at once', async (t) => {
    const id = await shopWithEntries(0);
    const pools = Array.from({ length: 5 }, () => connectAll(store.address));
    t.after(() => Promise.all(pools.map((each) => each.close())));
    const appending = Array.from({ length: 20 }, (_, index) =>
      pools[index % 5]?.write.begin(async (tx) => {
        await tx`select 1`;
        await appendEntry(tx, id, { at, by, what: 'tier_set', target: `tier ${index}` });
        // Others come while this one is not committed.
        await tx`select pg_sleep(0.01)`;
      }),
    );
    await Promise.all(appending);
    const entries = await auditOf(sql, id);
    assert.deepEqual(
      entries.map(({ number }) => number),
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    assert.equal(new Set(entries.map(({ target }) => target)).size, 20);
    assert.deepEqual((await verify(id)).problems, []);
  });

  test('is whole with every kind of text', async () => {
    const id = await shopWithEntries(0);
    const texts = ['', ' ', '"\\/', 'ä😀\u2028', '\u0001\b\f\n\r\t\u001f\u007f', '[1, null]'];
    for (const text of texts) {
      const network = '2001:db8:1::/48';
      const person = { who: text, session: text, network };
      await appendEntry(sql, id, { at, by: person, what: 'tier_set', target: text });
    }
    await appendEntry(sql, id, { at, by: { who: 'visitor', network: null }, what: 'signed_out' });
    assert.deepEqual((await verify(id)).problems, []);
    assert.deepEqual(
      (await auditOf(sql, id)).map(({ target }) => target),
      [...texts, null],
    );
  });

  test('is not as before if an entry is changed in any column', async () => {
    const changes = [
      "at = '2026-01-01T00:00:00Z'",
      "who = 'owner'",
      'session = null',
      "what = 'signed_in'",
      "target = 'tier 2 '",
      "network = '10.0.0.0/24'",
    ];
    for (const change of changes) {
      const id = await shopWithEntries(3);
      await tamper(`update audit_entries set ${change} where shop_id = $1 and number = 2`, id);
      assert.deepEqual((await verify(id)).problems, ['Entry 2 was changed.'], change);
    }
  });

  test('is not as before if an entry is replaced with its hash', async () => {
    const id = await shopWithEntries(3);
    const other = await shopWithEntries(3);
    const forged = await sql<{ number: number; hash: string }[]>`
      select number, encode(sha256(previous || convert_to(jsonb_build_array(
        shop_id, number, (extract(epoch from at) * 1000)::bigint, who, session, what, 'x'::text, network
      )::text, 'UTF8')), 'hex') as hash
      from audit_entries where shop_id = ${id} and number in (2, 3)`;
    for (const { number, hash } of forged) {
      await tamper(
        `update audit_entries set target = 'x', hash = decode('${hash}', 'hex')
        where shop_id = $1 and number = ${number}`,
        id,
      );
    }
    assert.deepEqual((await verify(id)).problems, [
      'Entry 2 is not the one that entry 3 follows.',
      'Entry 3 is not the one that the head names.',
    ]);
    // The hash also says which shop and which number it is.
    await tamper(`delete from audit_entries where shop_id = $1 and number = 2`, other);
    await tamper(`update audit_entries set number = 2 where shop_id = $1 and number = 3`, other);
    assert.deepEqual((await verify(other)).problems, [
      'Entry 1 is not the one that entry 2 follows.',
      'Entry 2 was changed.',
      'Entry 3 is missing.',
    ]);
  });

  test('names what is missing at its beginning, in the middle and at the end', async () => {
    const id = await shopWithEntries(6);
    await tamper('delete from audit_entries where shop_id = $1 and number in (1, 3, 4, 6)', id);
    assert.deepEqual((await verify(id)).problems, [
      'Entry 1 is missing.',
      'Entries 3 to 4 are missing.',
      'Entry 6 is missing.',
    ]);
  });

  test('looks whole if its end is cut with its head, but lacks the head that was kept', async () => {
    const id = await shopWithEntries(4);
    const kept = await findAuditHead(sql, id);
    assert.ok((await verify(id)).seen.has(kept?.hash ?? ''));
    await tamper('delete from audit_entries where shop_id = $1 and number = 4', id);
    assert.deepEqual((await verify(id)).problems, ['Entry 4 is missing.']);
    await tamper(
      `update audit_heads h set number = 3, hash = (
        select hash from audit_entries e where e.shop_id = $1 and e.number = 3
      ) where h.shop_id = $1`,
      id,
    );
    const { problems, seen } = await verify(id);
    assert.deepEqual(problems, []);
    assert.ok(!seen.has(kept?.hash ?? ''));
  });

  test('has no entry of what was rolled back, and what is rolled back with an entry', async () => {
    const id = await shopWithEntries(1);
    const stop = new Error('rolled back');
    await assert.rejects(
      sql.begin(async (tx) => {
        await appendEntry(tx, id, { at, by, what: 'tier_set', target: 'pro' });
        throw stop;
      }),
      stop,
    );
    await append(id, 'next');
    assert.deepEqual(
      (await auditOf(sql, id)).map(({ number, target }) => [number, target]),
      [
        [1, 'tier 1'],
        [2, 'next'],
      ],
    );
    assert.deepEqual((await verify(id)).problems, []);
  });

  test('reports entries only once they are committed', async (t) => {
    const id = await shopWithEntries(0);
    const told: object[] = [];
    const listening = connectAll(store.address, { audited: (entry) => told.push(entry) });
    t.after(() => listening.close());
    const entry = { at, by, what: 'tier_set', target: 'pro' } as const;
    const stop = new Error('rolled back');
    const failing = listening.write.begin(async (tx) => {
      await appendEntry(tx, id, entry);
      throw stop;
    });
    await assert.rejects(failing, stop);
    await listening.write.begin(async (tx) => {
      await appendEntry(tx, id, entry);
      assert.deepEqual(told, []);
    });
    const { hash } = (await findAuditHead(sql, id)) ?? {};
    assert.deepEqual(told, [
      {
        id: `${id}-1`,
        at,
        shop: id,
        who: 'command line',
        session: 'shops set-tier',
        what: 'tier_set',
        target: 'pro',
        network: null,
        hash,
      },
    ]);
  });

  test('refuses changes and deletions, even of all entries', async () => {
    const id = await shopWithEntries(2);
    const refused = /append-only/;
    await assert.rejects(sql`update audit_entries set who = 'x' where shop_id = ${id}`, refused);
    await assert.rejects(sql`delete from audit_entries where shop_id = ${id}`, refused);
    // A cluster has no triggers of that.
    if (name !== 'Citus') await assert.rejects(sql`truncate audit_entries`, refused);
    assert.equal((await auditOf(sql, id)).length, 2);
  });

  test('is pruned up to a time, and is whole afterwards; a signature shows who did it', async () => {
    const [key, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const id = await shopWithEntries(5);
    const prune = (until: Date, keys: readonly Buffer[]) =>
      pruneChain(sql, id, { before: until, at: minutes(9), by, keys });
    assert.equal(await prune(at, [key]), undefined);
    const kept = (await auditOf(sql, id))[2]?.hash ?? '';
    assert.equal(await prune(minutes(4), [key]), 3);
    const left = await auditOf(sql, id);
    assert.deepEqual(
      left.map(({ number, what }) => [number, what]),
      [
        [4, 'tier_set'],
        [5, 'tier_set'],
        [6, 'entries_pruned'],
      ],
    );
    const { problems, seen } = await verify(id, [other, key]);
    assert.deepEqual(problems, []);
    assert.ok(seen.has(kept), 'a head that was pruned since');
    assert.deepEqual((await verify(id)).problems, []);
    const unsigned = 'Entries 1 to 3 were pruned, but no key of CREDENTIALS_KEY has signed that.';
    assert.deepEqual((await verify(id, [other])).problems, [unsigned]);

    // Without a key, anyone who can delete can also say that it was pruned.
    assert.equal(await prune(minutes(20), []), 6);
    assert.deepEqual((await verify(id)).problems, []);
    assert.equal((await verify(id, [key])).problems.length, 1);
    await tamper('delete from audit_entries where shop_id = $1 and number = 7', id);
    assert.deepEqual((await verify(id)).problems, ['Entries 1 to 7 are missing.']);
  });

  test('takes 10 entries a minute that strangers cause, and says how many it left out', async () => {
    const id = await shopWithEntries(0);
    const fail = (when: Date) =>
      appendEntry(sql, id, {
        at: when,
        by: visitor('203.0.113.0/24'),
        what: 'unknown_sign_in_failed',
        isLimited: true,
      });
    await Promise.all(Array.from({ length: 25 }, () => fail(at)));
    await append(id, 'pro');
    const count = async (what: string) => (await auditOf(sql, id, what)).length;
    assert.equal(await count('unknown_sign_in_failed'), 10);
    assert.equal(await count('sign_ins_omitted'), 0);
    await fail(minutes(1));
    await fail(minutes(3));
    assert.equal(await count('unknown_sign_in_failed'), 12);
    assert.deepEqual(
      (await auditOf(sql, id, 'sign_ins_omitted')).map(({ who, target }) => [who, target]),
      [['service', '15']],
    );
    assert.deepEqual((await verify(id)).problems, []);
  });

  test('says at the next occasion how many were left out last', async () => {
    const id = await shopWithEntries(0);
    const failed = {
      at,
      by: visitor(null),
      what: 'unknown_sign_in_failed',
      isLimited: true,
    } as const;
    for (let count = 0; count < 12; count += 1) await appendEntry(sql, id, failed);
    await appendOmitted(sql, id, at);
    assert.equal((await auditOf(sql, id)).length, 10);
    for (const when of [minutes(1), minutes(2)]) {
      await appendOmitted(sql, id, when);
      assert.equal((await auditOf(sql, id)).length, 11);
      assert.equal((await auditOf(sql, id, 'sign_ins_omitted'))[0]?.target, '2');
    }
  });
});
