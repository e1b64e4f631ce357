import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { launch, run, throwawayFolder } from '../../cli/process.ts';
import { createShop } from '../../support/world.ts';
import { until } from '../../support/until.ts';
import { onMerchant } from './merchant.ts';
import { chargeStream, createTables, planStream, subscriptionStream } from './source.ts';

const all = [chargeStream, subscriptionStream, planStream];

onMerchant('a merchant’s PostgreSQL', (at) => {
  let shop: number;
  beforeEach(async () => {
    await createTables(at.source);
    shop = (await createShop(at.store)).id;
  });

  const connect = (
    streams: readonly object[] = all,
    url = at.source.url,
    more: Record<string, string> = {},
  ) =>
    run(['platforms', 'connect', 'postgres', '--shop', String(shop)], {
      env: { ...at.env, ...more },
      input: JSON.stringify({ url, streams }),
    });
  const sync = (...options: string[]) =>
    run(['sync', 'postgres', '--shop', String(shop), '--once', ...options], { env: at.env });
  const statuses = async () => {
    const rows = await at.store.write<{ status: string; price: string }[]>`
      select status, current_price as price from subscriptions where shop_id = ${shop} order by current_price`;
    return rows.map(({ status, price }) => `${status} ${price}`);
  };

  test('connects, reads everything, then what changed, and what is gone', async () => {
    const connected = await connect();
    assert.deepEqual([connected.code, connected.err], [0, '']);
    const first = await sync();
    assert.equal(first.code, 0, first.err);
    assert.match(
      first.out,
      /^Shop \d+: read all 7 rows; 7 records written, 0 deleted, 0 lines refused\.\n$/,
    );
    assert.deepEqual(await statuses(), ['active 20.00', 'active 30.00', 'cancelled 120.00']);

    await at.source.owner.script(`
      update subs set price = 25, updated_at = now() where id = 's-1';
      insert into subs values ('s-4', 'c-4', 'box', 'on', 40, now(), null, now())`);
    assert.match((await sync()).out, /read 4 changed rows; 2 records written/);
    assert.deepEqual(await statuses(), [
      'active 25.00',
      'active 30.00',
      'active 40.00',
      'cancelled 120.00',
    ]);

    await at.source.owner.script(`insert into plans values ('week', 'Trial', 2, true)`);
    assert.match((await sync('--full')).out, /1 records written, 0 deleted/);
    await at.source.owner.script(`delete from plans where code = 'week'`);
    const shrunk = await sync('--full');
    assert.equal(shrunk.code, 1);
    assert.match(shrunk.err, /1 of 3 plans are gone from a complete stream, more than a fifth/);
    assert.match((await sync('--full', '--take-over')).out, /0 records written, 1 deleted/);
  });

  test('keeps up with the source, round after round, until it is stopped', async () => {
    await connect();
    const args = ['sync', 'postgres', '--shop', String(shop), '--interval', '1'];
    const running = launch(args, { env: at.env });
    await until(statuses, ({ length }) => length === 3);
    await at.source.owner.script(
      `insert into subs values ('s-4', 'c-4', 'box', 'on', 40, now(), null, now())`,
    );
    await until(statuses, ({ length }) => length === 4);
    running.child.kill('SIGTERM');
    const { code, err } = await running.ended;
    assert.deepEqual([code, err.includes('sync failed')], [0, false], err);
  });

  test('keeps asking for what refers to something that is not there yet', async () => {
    await at.source.owner.script('alter table charges drop constraint charges_sub_fkey');
    await connect();
    await sync();
    await at.source.owner.script(`insert into charges values ('p-3', 's-9', true, 5, now())`);
    assert.equal((await sync()).code, 3);
    assert.equal((await sync()).code, 3);
    await at.source.owner.script(
      `insert into subs values ('s-9', 'c-9', 'box', 'on', 5, now(), null, now())`,
    );
    assert.match((await sync()).out, /2 records written, 0 deleted, 0 lines refused/);
  });

  test('takes no records of its types from elsewhere, and says what a shop already has', async () => {
    const file = path.join(throwawayFolder(), 'plans.ndjson');
    writeFileSync(
      file,
      '{"type":"plan","id":1,"name":"A","planType":"subscription","intervalUnit":"month","intervalCount":1,"active":true,"productIds":[1]}\n',
    );
    const load = () => run(['import', '--shop', String(shop), file], { env: at.env });
    assert.equal((await load()).code, 0);
    await connect();
    const refused = await sync();
    assert.equal(refused.code, 1);
    assert.match(refused.err, /already has plans, which no connection keeps up; .*--take-over/);
    assert.equal((await sync('--take-over')).code, 0);
    const late = await load();
    assert.equal(late.code, 3);
    assert.match(
      late.err,
      /its plans, subscriptions and payments come from PostgreSQL|its .*plans.* come from PostgreSQL/,
    );
    const listed = JSON.parse((await run(['platforms', 'list', '--json'], { env: at.env })).out);
    assert.equal(
      listed.find((each: { shop: number }) => each.shop === shop)?.account,
      `${new URL(at.source.url).host}/${at.source.name}`,
    );
    await at.store.write`update platforms.connections set draft = '{}' where shop_id = ${shop}`;
    const drafts = JSON.parse((await run(['platforms', 'list', '--json'], { env: at.env })).out);
    assert.match(
      drafts.find((each: { shop: number }) => each.shop === shop)?.problem,
      /^Its owner has yet to start the first sync/,
    );
    assert.equal(
      (await run(['platforms', 'disconnect', 'postgres', '--shop', String(shop)], { env: at.env }))
        .code,
      0,
    );
    assert.equal((await load()).code, 0);
  });

  describe('refuses', () => {
    const refusal = async (...given: Parameters<typeof connect>) => {
      const { code, out, err } = await connect(...given);
      assert.deepEqual([code, out], [code || 'not refused', '']);
      assert.doesNotMatch(err, /of a reader|of%20a%20reader/);
      return err;
    };

    test('a login that may do more than read', async () => {
      const { owner, reader, admin } = at.source;
      const cases = [
        [
          'grant insert on plans to :r',
          'revoke insert on plans from :r',
          /may insert into public\.plans/,
        ],
        [
          'grant update (title) on plans to :r',
          'revoke update (title) on plans from :r',
          /may update public\.plans/,
        ],
        [
          'grant truncate on subs to :r',
          'revoke truncate on subs from :r',
          /may truncate public\.subs/,
        ],
        [
          'grant create on schema public to :r',
          'revoke create on schema public from :r',
          /may create in schema public/,
        ],
        [
          'grant pg_read_server_files to :r',
          'revoke pg_read_server_files from :r',
          /member of pg_read_server_files/,
        ],
        [
          `grant create on database ${at.source.name} to :r`,
          `revoke create on database ${at.source.name} from :r`,
          /may create schemas in the database/,
        ],
        [
          'alter table plans owner to :r; revoke all on plans from :r',
          'alter table plans owner to current_user; grant select on plans to :r',
          /owns public\.plans/,
        ],
        [
          'grant execute on function pg_read_file(text) to :r',
          'revoke execute on function pg_read_file(text) from :r',
          /may call pg_read_file/,
        ],
        ['alter role :r createrole', 'alter role :r nocreaterole', /may create roles/],
        ['alter role :r superuser', 'alter role :r nosuperuser', /is a superuser/],
      ] as const;
      for (const [give, take, expected] of cases) {
        await owner.script(give.replaceAll(':r', reader));
        assert.match(await refusal(), expected);
        await owner.script(take.replaceAll(':r', reader));
      }
      // Rights of a role that it could become.
      await admin.script(
        `create role ${reader}_writer; grant ${reader}_writer to ${reader}; alter role ${reader} noinherit`,
      );
      await owner.script(`grant delete on subs to ${reader}_writer`);
      assert.match(await refusal(), /may delete from public\.subs/);
      await owner.script(`revoke delete on subs from ${reader}_writer`);
      await admin.script(`drop role ${reader}_writer`);
      assert.equal((await connect()).code, 0);
    });

    test('addresses inside, others than TLS, wrong logins and servers that are not there', async () => {
      const inside = await refusal(all, at.source.url, { SOURCE_NETWORKS: '' });
      assert.match(inside, /127\.0\.0\.1 has no address that may be used\..*SOURCE_NETWORKS/);
      for (const host of [
        'localhost',
        '[::1]',
        '10.1.2.3',
        '169.254.169.254',
        '[fe80::1]',
        '0.0.0.0',
      ]) {
        const url = at.source.url.replace('127.0.0.1', host);
        assert.match(
          await refusal(all, url, { SOURCE_NETWORKS: '' }),
          /has no address that may be used/,
        );
      }
      assert.match(
        await refusal(all, `${at.source.url}?sslmode=prefer`),
        /url must be an address such as/,
      );
      assert.match(
        await refusal(all, `${at.source.url}?host=/tmp`),
        /url must be an address such as/,
      );
      const wrong = at.source.url.replace('of%20a%20reader', 'wrong');
      const { port } = new URL(at.source.url);
      const away = at.source.url.replace(`:${port}/`, ':1/');
      assert.match(await refusal(all, away), /cannot be reached \(ECONNREFUSED\)/);
      // The tests' server may trust everyone on this machine.
      assert.match(
        await refusal(all, wrong.replace(at.source.reader, 'nobody_of_that_name')),
        /does not accept the login/,
      );
    });

    test('streams that cannot work, with the reason', async () => {
      const cases: readonly (readonly [object[], RegExp])[] = [
        [[], /streams must not be empty/],
        [[{ ...planStream, name: 'a b' }], /streams\[0\]\.name must be 1 to 60 letters/],
        [[planStream, planStream], /has two streams plans/],
        [[{ ...planStream, every: 'daily' }], /streams\[0\]\.every must be a time such as/],
        [
          [{ ...planStream, query: 'delete from plans returning *' }],
          /stream plans: .*(syntax error|42601)/,
        ],
        [[{ ...planStream, query: 'select 1) q; select 2; --' }], /stream plans: /],
        [
          [{ ...planStream, query: 'select * from nothing' }],
          /stream plans: .* relation "nothing" does not exist/,
        ],
        [
          [{ ...planStream, query: 'select code from plans' }],
          /stream plans: its query has no column title, months, active/,
        ],
        [[{ ...planStream, query: 'select *, code from plans' }], /has several columns code/],
        [
          [{ ...planStream, queries: '' }],
          /streams\[0\] has unknown members: queries; the known ones are name, query/,
        ],
        [
          [{ ...chargeStream, gone: 'deleted' }],
          /streams\[0\]\.gone is for streams that are complete/,
        ],
        [[{ ...planStream, key: ['id'] }], /stream plans: its query has no column id/],
        [[{ ...planStream, cursor: 'title' }], /the cursor title must be a time or a number/],
        [[{ ...planStream, mapping: 'no-such' }], /"no-such" is neither the name of one/],
        [
          [{ ...planStream, mapping: { records: [] } }],
          /The mapping of stream plans is not a mapping/,
        ],
        [
          [planStream, { ...planStream, name: 'more', complete: false }],
          /stream more: it makes plans, of which stream plans is to have everything/,
        ],
      ];
      for (const [streams, expected] of cases) assert.match(await refusal(streams), expected);
    });
  });

  test('goes on where a first sync was killed', async () => {
    await at.source.owner.script(`
      insert into subs select 't-' || i, 'c-1', 'box', 'on', 1, '2026-01-01', null, '2026-01-01'
      from generate_series(1, 9000) i`);
    await connect();
    const count = async () => {
      const [row] = await at.store.write<{ count: number }[]>`
        select count(*)::int as count from subscriptions where shop_id = ${shop}`;
      return row?.count ?? 0;
    };
    const killed = launch(['sync', 'postgres', '--shop', String(shop), '--once'], { env: at.env });
    await until(async () => (await count()) > 0);
    killed.child.kill('SIGKILL');
    await killed.ended;
    const { code, err } = await sync();
    assert.equal(code, 0, err);
    assert.equal(await count(), 9003);
  });

  test('keeps ids apart that have more digits than numbers of JavaScript', async () => {
    await at.source.owner.script(`
      create view big as select 9007199254740992 + i as id, customer, plan, state, price, started_at, ended_at, updated_at
      from subs cross join generate_series(0, 3) i where id = 's-1';
      grant select on big to ${at.source.reader}`);
    await connect([planStream, { ...subscriptionStream, query: 'select * from big' }]);
    assert.match(
      (await sync()).out,
      /read all 6 rows; 6 records written, 0 deleted, 0 lines refused/,
    );
    assert.equal((await statuses()).length, 4);
  });

  test('is not stopped by a cursor that lies ahead, and refuses rows with the same key', async () => {
    await at.source.owner.script(`
      alter table subs add seen timestamptz not null default '2026-01-01';
      update subs set seen = '2099-01-01' where id = 's-3'`);
    await connect([planStream, { ...subscriptionStream, cursor: 'seen' }]);
    await sync();
    await at.source.owner.script(
      `update subs set price = 21, updated_at = now(), seen = now() where id = 's-1'`,
    );
    await sync();
    assert.deepEqual(await statuses(), ['active 21.00', 'active 30.00', 'cancelled 120.00']);
    const query = 'select * from plans union all select * from plans';
    await connect([{ ...planStream, complete: false, query }]);
    const { code, err } = await sync();
    assert.equal(code, 3);
    assert.match(err, /code is the same as in the row before/);
  });

  test('belongs to no platform once it is disconnected', async () => {
    await connect();
    await sync();
    await run(['platforms', 'disconnect', 'postgres', '--shop', String(shop)], { env: at.env });
    await connect();
    assert.match((await sync()).err, /already has .*, which no connection keeps up/);
  });

  test('keeps up what its streams bring now, and asks nothing before one is due', async () => {
    await connect();
    await sync();
    await connect([planStream]);
    await sync();
    const file = path.join(throwawayFolder(), 'gone.ndjson');
    writeFileSync(
      file,
      '{"type":"delete","record":"payment","id":1}\n{"type":"delete","record":"plan","id":1}\n',
    );
    const { err } = await run(['import', '--shop', String(shop), file], { env: at.env });
    assert.doesNotMatch(err, /:1: /);
    assert.match(err, /:2: shop \d+ belongs to .*: its plans come from PostgreSQL/);
    await at.source.admin.script(`alter role ${at.source.reader} nologin`);
    const asked = await sync();
    assert.deepEqual([asked.code, /read 0 changed rows/.test(asked.out)], [0, true], asked.err);
    assert.match((await sync('--full')).err, /does not accept the login/);
  });

  test('shows no value of a row where a query fails', async () => {
    await at.source.owner.script(`
      create function fail(text) returns text language plpgsql as
      $$ begin raise exception 'cannot handle %', $1; end $$`);
    await connect();
    await at.source.owner.script(`
      alter table plans rename to plans_before;
      create view plans as select fail(code || '@example.com') as code, title, months, active from plans_before;
      grant select on plans to ${at.source.reader}`);
    const { code, err } = await sync();
    assert.equal(code, 1);
    assert.match(err, /stream plans: PostgreSQL at 127\.0\.0\.1:\d+ says: an error \(P0001\)\./);
    assert.doesNotMatch(err, /@example/);
  });

  test('says which column is gone once a table changes, and goes on when it is back', async () => {
    await connect();
    await sync();
    await at.source.owner.script('alter table subs rename price to amount');
    const broken = await sync();
    assert.equal(broken.code, 1);
    assert.match(
      broken.err,
      /stream subscriptions: its query has no column price; it has id, customer/,
    );
    await at.source.owner.script('alter table subs rename amount to price');
    assert.equal((await sync()).code, 0);
  });
});
