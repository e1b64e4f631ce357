import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { plan, subscription } from '../rest/records.ts';
import { newShopId, run, throwawayFolder } from './process.ts';
import { serverUrl } from '../support/databases.ts';

const DATABASE_URL = serverUrl ?? '';
const skip = DATABASE_URL === '' && 'PostgreSQL is not available on this machine';
const env = { DATABASE_URL, LOG_LEVEL: 'warn' };

async function runOk(...args: string[]): Promise<string> {
  const { code, out, err } = await run(args, { env });
  assert.equal(code, 0, err);
  return out;
}

describe('feeds status', { skip }, () => {
  test('shows when data arrived, and how long ago', async () => {
    const id = newShopId();
    await runOk('shops', 'create', '--id', id, '--name', 'Shop', '--currency', 'USD');
    assert.equal(
      await runOk('feeds', 'status', '--shop', id),
      'No data yet. "retention import" imports some.\n',
    );

    const file = path.join(throwawayFolder(), 'records.ndjson');
    writeFileSync(file, `${JSON.stringify(plan())}\n${JSON.stringify(subscription(1001))}\n`);
    await runOk('import', '--shop', id, file);
    const [feed, ...others] = JSON.parse(await runOk('feeds', 'status', '--shop', id, '--json'));
    assert.deepEqual(others, []);
    const { shop, feed: name, newestAt, arrivedAt, completedAt } = feed;
    assert.deepEqual([shop, name, newestAt], [Number(id), 'records', '2026-11-01T00:00:00.000Z']);
    assert.ok(arrivedAt <= completedAt);

    const table = await runOk('feeds', 'status');
    assert.match(table, /^SHOP +FEED +ARRIVED +NEWEST +COMPLETE\n/);
    const row = `^${id} +records +${arrivedAt} \\(\\d+ (second|minute)s? ago\\) +${newestAt} \\(`;
    assert.match(table, new RegExp(row, 'm'));
  });

  test('names a shop that does not exist', async () => {
    const unknown = await run(['feeds', 'status', '--shop', '9007199254740991'], { env });
    assert.deepEqual(
      [unknown.code, unknown.out, unknown.err],
      [1, '', 'retention: There is no shop 9007199254740991.\n'],
    );
  });
});
