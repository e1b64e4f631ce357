import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { migrate } from '../../src/store/migrate.ts';
import { type Store, connectAll } from '../../src/store/open.ts';
import { createServingLogin } from '../../src/store/serving-login.ts';
import { root } from '../cli/process.ts';
import { type LoggedStatement, logSettings, openAsReader, readStatements } from './logged-plans.ts';
import { scansAcrossShops } from './plan-nodes.ts';
import { type PostgresServer, findPostgresPrograms, requirePostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { useEverything } from './use-everything.ts';

/**
 * Statements that may read beyond one shop:
 * - the look-up that finds a key's shop, by the key's hash;
 * - the entitlements of the customers that a setting names; on a cluster, a statement with the list of shops;
 * - the use of keys and the logs of requests, each row with its shop;
 * - the keys of a list of shops, in a table of which every node of a cluster has a copy;
 * - the oldest feeds, for operators; no page or API response shows them;
 * - who is connected to a platform, and whose sync is due: no shop's records;
 * - the source that a pushed request names, all sources' secrets, which sources have batches to store, and how many;
 * - the heads of the audit log's chains;
 * - the issuers of all shops, whose secrets are encrypted anew;
 * - the accounts of a shop's owners, who may have other shops; they are separate from the shops' data;
 * - expired sign-in attempts, challenges and remembered browsers, and secrets of authenticator apps, of any account.
 */
const acrossShops = [
  /where hash = decode\(/,
  /^select \* from asked_entitlements$/,
  /^select k\.\*\s+from unnest\(\$1::bigint\[\]\) requested/,
  /^insert into (?:request_counts|key_uses|request_batches)\s/,
  /from feeds group by feed/,
  /from audit_heads order by shop_id/,
  /from owners\.sso_providers order by/,
  /delete from owners\.accounts/,
  /from owners\.accounts a\s+where owner_id in \(/,
  /^select count\(\*\) as owners from owners\.memberships m/,
  /from platforms\.(?:connections|syncs)\s+where (?:platform|account) = /,
  /from platforms\.syncs\s+\) s/,
  /from platforms\.streams cross join/,
  /from ingest\.sources s\s+where s\.(?:source_id|revoked_at)/,
  /^select distinct shop_id as "shopId" from ingest\.batches/,
  /^select coalesce\(sum\(queued\)[^;]+ from ingest\.batches where finished_at is null group by shop_id/,
  /^delete from owners\.(?:attempts|challenges|devices) where (?:signed_in_at|expires_at|at) <=/,
  / from owners\.factors where credential_id is null$/,
];

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

describe('statements that stay within a shop', { skip, timeout: 600_000 }, () => {
  let server: PostgresServer;
  let watched: Store;
  let observer: Store;
  let statements: LoggedStatement[];

  before(async () => {
    server = await requirePostgres([...logSettings, 'track_functions=all'], { isNew: true });
    const preparing = openAsReader(server.url);
    await migrate(preparing.write);
    await createServingLogin(preparing, { user: 'reader', password: undefined });
    await preparing.write`alter role reader set auto_explain.log_min_duration = 0`;
    await preparing.close();
    observer = connectAll(server.url);
    watched = openAsReader(`${server.url}?auto_explain.log_min_duration=0`);
    await useEverything(watched);
    await watched.close();
    await untilGone(observer);
    statements = await readStatements(observer.write);
  });
  after(async () => {
    await observer.close();
    await server.destroy();
  });

  test('ran every statement in the source', () => {
    const texts = statements.map((each) => each['Query Text']);
    const missing = listTemplates().filter(
      ({ pieces }) => !texts.some((text) => pieces.every((piece) => text.includes(piece))),
    );
    assert.deepEqual(missing, []);
  });

  test('called every function of the schema, except those for truncated tables', async () => {
    const idle = await observer.write`
      select proname as name from pg_proc p
      join pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
      left join pg_stat_user_functions s on s.funcid = p.oid
      where p.pronamespace = 'public'::regnamespace and s.calls is null`;
    assert.deepEqual([...idle], [{ name: 'rebuild_all_metrics' }]);
  });

  test('every statement names the shop for each table', () => {
    const found = statements
      // The job queue's tables are separate from the shops' data.
      .filter((each) => !/\bjobs"?\./.test(each['Query Text']))
      .map((each) => ({ text: each['Query Text'].trim(), scans: scansAcrossShops(each.Plan) }))
      .filter(({ scans }) => scans.length > 0);
    const [known, others] = [
      found.filter(({ text }) => acrossShops.some((pattern) => pattern.test(text))),
      found.filter(({ text }) => !acrossShops.some((pattern) => pattern.test(text))),
    ];
    assert.deepEqual(others, []);
    // Exceptions that no statement needs must be removed.
    for (const pattern of acrossShops)
      assert.ok(
        known.some(({ text }) => pattern.test(text)),
        String(pattern),
      );
  });
});

/** PostgreSQL publishes a connection's counts when it ends. */
async function untilGone({ write }: Store): Promise<void> {
  await until(
    () => write`
      select from pg_stat_activity
      where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    ({ length }) => length === 0,
  );
}

/** These read and change the schema and roles, not data. */
const filesOfSchema = new Set([
  'src/store/cluster/cluster.ts',
  'src/store/cluster/distribute.ts',
  'src/store/locks.ts',
  'src/store/migrate.ts',
  'src/store/serving-login.ts',
]);

/**
 * The fixed parts of every statement of the store and the import, except those about owners, Shopify's shops
 * and jobs, whose tables are separate from the shops' data.
 */
function listTemplates() {
  return globSync(
    ['src/store/**/*.ts', 'src/metrics/**/*.ts', 'src/platforms/**/*.ts', 'src/ingest/*.ts'],
    { cwd: root },
  )
    .filter((file) => !file.endsWith('.test.ts') && !filesOfSchema.has(file))
    .flatMap((file) => {
      const source = readFileSync(path.join(root, file), 'utf8');
      const templates = source.matchAll(/\b(?:sql|tx)(?:<[^`]*?>)?`([^`]*)`/g);
      return [...templates]
        .filter(([, text = '']) => !/[\s']owners\.|[\s']shopify\.|[\s']jobs\./.test(text))
        .map(([, text = '']) => ({
          file,
          // In a template, two backslashes are one.
          pieces: text
            .replaceAll('\\\\', '\\')
            .split(/\$\{[^}]*\}/)
            .filter((piece) => piece.trim() !== ''),
        }));
    });
}
