import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { nameOf } from '../../src/config/database-url.ts';
import { findMove } from '../../src/store/moves/move.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { beginDeletion } from '../../src/store/shop-deletion.ts';
import { listShopTables } from '../../src/store/shop-tables.ts';
import { serverUrl } from '../support/databases.ts';
import { createServerDatabase } from '../support/own-databases.ts';
import { type PostgresServer, requirePostgres } from '../support/postgres.ts';
import { onServer } from '../support/replication.ts';
import { until } from '../support/until.ts';
import { createTestKey } from '../support/world.ts';
import { createFilledShop, runTo } from './shop-data.ts';

const skip =
  (serverUrl === undefined || process.env['TEST_CITUS_URL'] !== undefined) &&
  'PostgreSQL is not available on this machine';

describe('moves that fail', { skip, timeout: 600_000 }, () => {
  let database: Awaited<ReturnType<typeof createServerDatabase>>;
  let other: PostgresServer;
  let here: Store;
  const credentialsKey = randomBytes(32).toString('base64');
  const env = () => ({
    DATABASE_URL: database.target,
    OTHER: other.url,
    CREDENTIALS_KEY: credentialsKey,
    LOG_LEVEL: 'warn',
  });
  const ended = (status: number, args: readonly string[], more: Record<string, string> = {}) =>
    runTo(status, args, { ...env(), ...more });
  const onOther = (statement: string) => onServer(other.url, statement);
  const moveOf = (id: number) => ['shops', 'move', `--id=${id}`, '--to=env:OTHER'];
  const deleteOf = (id: number) => ['shops', 'delete', `--id=${id}`, '--yes'];
  before(async () => {
    database = await createServerDatabase({ hasLogin: true });
    other = await requirePostgres(['fsync=off']);
    here = connectAll(database.target);
    await runTo(0, ['migrate'], { DATABASE_URL: other.url });
  });
  after(async () => {
    await here.close();
    await other.destroy();
    await database.drop();
  });

  async function fill() {
    const shop = await createFilledShop(here, 20, systemClock.now());
    await createTestKey(here, shop.id);
    return shop;
  }

  /** Digests of a shop's rows by table, without what each place has of its own. */
  async function digestsOf(target: string, shopId: number): Promise<string[]> {
    const found: string[] = [];
    for (const { name, columns } of await listShopTables(here.write)) {
      if (/^audit_|^metric_shops$/.test(name)) continue;
      const text = `row(${columns.map((column) => `"${column}"`).join(', ')})::text`;
      const [row]: { rows?: number; digest?: string }[] = await onServer(
        target,
        `select count(*)::int as rows, md5(string_agg(${text}, '|' order by ${text})) as digest
         from ${name} where shop_id = ${shopId}`,
      );
      if (row?.rows) found.push(`${name} ${row.digest}`);
    }
    return found;
  }

  /** Starts a move, and stops it where the other place waits for a lock of a row that this one takes. */
  async function whileHeld(
    target: string,
    statement: string,
    moving: () => Promise<unknown>,
    work: () => Promise<unknown>,
  ) {
    const { write, close } = connectAll(target);
    const held = await write.reserve();
    try {
      await held.script(`begin; ${statement}`);
      const [mine] = await held<{ pid: number }[]>`select pg_backend_pid() as pid`;
      const moved = moving();
      await until(async () => {
        const rows = await onServer(
          target,
          `select from pg_stat_activity where ${mine?.pid} = any (pg_blocking_pids(pid))`,
        );
        return rows.length > 0;
      });
      await work();
      await held.script('rollback').catch(() => {});
      return await moved;
    } finally {
      held.release();
      await close();
    }
  }

  test('because the other server crashes, end whole in one place when run again', async () => {
    const shop = await fill();
    const whole = await digestsOf(database.target, shop.id);
    const placed = async () => [
      await digestsOf(database.target, shop.id),
      await digestsOf(other.url, shop.id),
    ];
    const crash = async () => {
      await other.stop('crash');
      await other.start();
    };
    const failed = async (moving: Promise<{ err: string }>) => {
      assert.match((await moving).err, /^retention: The connection to the database was lost/);
    };

    // While rows are copied.
    await whileHeld(
      other.url,
      'lock payments in share mode',
      () => failed(ended(1, moveOf(shop.id))),
      crash,
    );
    assert.deepEqual(await placed(), [whole, []]);
    assert.equal((await findMove(here.write, shop.id))?.movingTo, null);

    // When all has arrived, and the command has not heard of it.
    await onOther("alter system set synchronous_standby_names = 'none'");
    await onOther('select pg_reload_conf()');
    const moving = failed(ended(1, moveOf(shop.id)));
    await until(async () => {
      const waiting = await onOther("select from pg_stat_activity where wait_event = 'SyncRep'");
      return waiting.length > 0;
    });
    await onOther('alter system reset synchronous_standby_names');
    await crash();
    await moving;
    assert.deepEqual(await placed(), [whole, whole]);
    assert.match((await ended(1, deleteOf(shop.id))).err, /has moved to .+ run it again/);

    await ended(0, moveOf(shop.id));
    assert.deepEqual(await placed(), [[], whole]);
  });

  test('beside a deletion, or of a shop of which a part is deleted', async () => {
    const shop = await fill();
    const whole = await digestsOf(database.target, shop.id);
    await whileHeld(
      other.url,
      'lock payments in share mode',
      () => ended(0, moveOf(shop.id)),
      async () => {
        const refused = await ended(1, deleteOf(shop.id));
        assert.match(refused.err, /is being moved, copied or deleted by another process/);
        const there = await ended(1, deleteOf(shop.id), { DATABASE_URL: other.url });
        assert.match(there.err, /There is no shop/);
      },
    );
    assert.deepEqual(await digestsOf(other.url, shop.id), whole);
    assert.deepEqual(await digestsOf(database.target, shop.id), []);

    const left = await fill();
    await beginDeletion(here.write, left.id, new Date());
    for (const command of ['move', 'copy']) {
      const { err } = await ended(1, ['shops', command, `--id=${left.id}`, '--to=env:OTHER']);
      assert.match(err, /is being deleted\. Run "retention shops delete/);
    }
    // As a move leaves it that is killed while it deletes what has arrived.
    const address = `${nameOf(other.url)}/postgres`;
    await here.write`
      update metric_shops set move_id = gen_random_uuid(), moving_to = ${address} where shop_id = ${left.id}`;
    await ended(0, moveOf(left.id));
    assert.deepEqual(await digestsOf(database.target, left.id), []);
    // It was deleted there meanwhile, and does not come back.
    assert.deepEqual(await digestsOf(other.url, left.id), []);
  });

  test('to where the shop is already, do not take it for a copy', async () => {
    const shop = await fill();
    for (const command of ['move', 'copy']) {
      const to = ['shops', command, `--id=${shop.id}`, '--to=env:OTHER'];
      const { err } = await ended(1, to, { OTHER: database.target });
      assert.match(
        err,
        /^retention: \S+ is the database in which the shop is\. Name another one\.$/m,
      );
    }
  });

  test('for want of the right key or login, say so', async () => {
    const shop = await fill();
    const wrong = randomBytes(32).toString('base64');
    const given = await ended(2, [...moveOf(shop.id), `--to-key=${wrong}`]);
    assert.match(given.err, /--to-key must be env:NAME/);
    assert.ok(!given.err.includes(wrong));
    const withKey = (status: number, key: string) =>
      ended(status, [...moveOf(shop.id), '--to-key=env:KEY'], { KEY: key });
    const keyThere = randomBytes(32).toString('base64');
    await runTo(0, ['shops', 'create', '--id=1', '--name=Other', '--currency=USD'], {
      DATABASE_URL: other.url,
    });
    // A passkey's key is public, and a secret that is stored as it is has no key.
    await ended(0, ['ingest', 'create', '--shop=1', '--name=Plain'], {
      DATABASE_URL: other.url,
      CREDENTIALS_KEY: '',
    });
    await ended(0, ['ingest', 'create', '--shop=1', '--name=Sealed'], {
      DATABASE_URL: other.url,
      CREDENTIALS_KEY: keyThere,
    });
    for (const refused of [await withKey(1, wrong), await ended(1, moveOf(shop.id))]) {
      assert.match(refused.err, /The secrets at \S+ are encrypted with another key/);
    }

    await onOther('create role nothing login');
    await onOther('create role reads login');
    await onOther('grant select on all tables in schema public to reads');
    for (const user of ['nothing', 'reads']) {
      const { err } = await ended(1, moveOf(shop.id), {
        OTHER: other.url.replace('postgres@', `${user}@`),
      });
      assert.match(err, /^retention: The login for \S+ may not write there\./);
    }
    await withKey(0, `${wrong},${keyThere}`);
  });
});
