import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { FixedClock, systemClock } from '../../src/clock.ts';
import type { Store } from '../../src/store/open.ts';
import { assertSameRows } from '../import/exported.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { createShop, createTestKey, get, importAll, startTestService } from '../support/world.ts';
import { plan } from '../rest/records.ts';
import { run, throwawayFolder } from './process.ts';
import { createFilledShop, runTo } from './shop-data.ts';

onOneOwnDatabase('the data of a shop, on the command line', (open, targetOf) => {
  let store: Store;
  const folder = throwawayFolder();
  const endAt = systemClock.now();
  const envOf = () => ({ DATABASE_URL: targetOf(), LOG_LEVEL: 'warn' });
  const ended = (status: number, ...args: string[]) => runTo(status, args, envOf());
  const fill = (subscriptions: number) => createFilledShop(store, subscriptions, endAt);
  before(() => {
    store = open();
  });
  after(() => store.close());

  test('exports to a file that makes the same shop', async (t) => {
    const shop = await fill(400);
    const other = await createShop(store);
    const file = path.join(folder, 'whole.ndjson');
    const { out, err } = await ended(
      0,
      'shops',
      'export',
      `--id=${shop.id}`,
      `--output=${file}`,
      '--json',
    );
    const { counts } = JSON.parse(out);
    assert.equal(counts.subscription, 400);
    assert.match(
      err,
      /^Not exported, because it belongs to this installation: the log of requests, /,
    );
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!existsSync(`${file}.partial`));
    const imported = await ended(0, 'import', `--shop=${other.id}`, file, '--json');
    assert.equal(JSON.parse(imported.out).counts.subscription.stored, 400);
    await assertSameRows(store, shop.id, other.id);

    const dayOf = (daysAgo: number) =>
      new Date(endAt - daysAgo * 86_400_000).toISOString().slice(0, 10);
    const period = [`--from=${dayOf(200)}`, `--to=${dayOf(0)}`];
    const asked = [
      ['history', '--days=365'],
      ['movements', ...period],
      ['retention', ...period],
      ['cohorts'],
      ['explain', '--figure=mrr', '--by=plan', ...period],
      ['explain', '--figure=mrr', '--by=source', ...period],
      ['explain', '--figure=churnRate', '--by=plan', ...period],
    ];
    for (const words of asked) {
      const [one, two] = await Promise.all(
        [shop, other].map(({ id }) => ended(0, 'metrics', ...words, `--shop=${id}`, '--json')),
      );
      assert.ok((one?.out.length ?? 0) > 30);
      assert.equal(two?.out, one?.out, words.join(' '));
    }
    const service = await startTestService(store, { clock: new FixedClock(endAt) });
    t.after(() => service.close());
    const base = `${service.baseUrl}/api/external/v1`;
    const [answers, others] = await Promise.all(
      [shop, other].map(async ({ id }) => {
        const { key } = await createTestKey(store, id);
        return answersOf(base, key);
      }),
    );
    assert.ok(answers && answers.length > 400);
    assert.deepEqual(others, answers);
  });

  test('goes on where an export was stopped, unless the shop has changed', async () => {
    const shop = await fill(50);
    // Not the end of a line of NDJSON.
    await importAll(store, shop, [plan({ id: 9_998, name: 'Box\u2028and Bag' })]);
    const args = ['shops', 'export', `--id=${shop.id}`];
    const first = path.join(folder, 'first.ndjson');
    await ended(0, ...args, `--output=${first}`);
    const whole = readFileSync(first, 'utf8');
    const second = path.join(folder, 'second.ndjson');
    // In the middle of a line of a payment.
    const cut = whole.indexOf('"type":"payment"', whole.length / 2) + 40;
    writeFileSync(`${second}.partial`, whole.slice(0, cut));
    const { err } = await ended(0, ...args, `--output=${second}`);
    assert.doesNotMatch(err, /Starting again/);
    assert.equal(readFileSync(second, 'utf8'), whole);

    const third = path.join(folder, 'third.ndjson');
    writeFileSync(`${third}.partial`, whole.slice(0, cut));
    await importAll(store, shop, [plan({ id: 9_999 })]);
    const again = await ended(0, ...args, `--output=${third}`, '--json');
    assert.match(
      again.err,
      /The file of the run before is of another state of the shop\. Starting again\./,
    );
    const lines = readFileSync(third, 'utf8').trim().split('\n');
    assert.equal(new Set(lines).size, lines.length);
    assert.equal(lines.filter((line) => line.startsWith('{"type":"shop"')).length, 1);
    const { counts } = JSON.parse(again.out);
    const total = Object.values<number>(counts).reduce((sum, count) => sum + count, 0);
    assert.equal(total, lines.length - 1);
  });

  test('writes to standard output, and stops when it is told to', async () => {
    const shop = await fill(20);
    const args = ['shops', 'export', `--id=${shop.id}`];
    const { out } = await ended(0, ...args);
    const other = await createShop(store);
    const imported = await run(['import', `--shop=${other.id}`, '-'], { env: envOf(), input: out });
    assert.equal(imported.code, 0, imported.err);
    await assertSameRows(store, shop.id, other.id);

    const file = path.join(folder, 'stopped.ndjson');
    const stopped = await run([...args, `--output=${file}`], { env: envOf(), signal: 'SIGINT' });
    assert.equal(stopped.code, 130, stopped.err);
    assert.match(
      stopped.err,
      /^Interrupted after 0 records\. To go on, run the same command again\.$/m,
    );
    assert.ok(!existsSync(file));
    await ended(0, ...args, `--output=${file}`);
  });

  test('says why it cannot export', async () => {
    const shop = await createShop(store);
    const args = ['shops', 'export', `--id=${shop.id}`];
    const existing = path.join(folder, 'existing.ndjson');
    writeFileSync(existing, '');
    mkdirSync(path.join(folder, 'taken.partial'));
    for (const [status, output, message] of [
      [1, existing, `${existing} exists already. Remove it, or choose another name.`],
      [
        1,
        path.join(folder, 'taken'),
        `${folder}/taken.partial is not a regular file. Choose another name.`,
      ],
      [1, path.join(folder, 'none', 'x'), `${folder}/none/x cannot be written: ENOENT`],
    ] as const) {
      const { err } = await ended(status, ...args, `--output=${output}`);
      assert.ok(err.includes(message), err);
    }
    assert.match((await ended(2, ...args, '--json')).err, /--json needs --output\./);
    const unknown = await ended(1, 'shops', 'export', '--id=4');
    assert.match(unknown.err, /There is no shop 4/);
    const file = path.join(folder, 'euros.ndjson');
    await ended(0, ...args, `--output=${file}`);
    const { err } = await ended(1, 'import', `--shop=${shop.id}`, file, existing);
    assert.match(err, /is the export of a shop\. Import it without other files\./);
  });
});

/** What the six operations answer, all pages. */
async function answersOf(base: string, key: string): Promise<unknown[]> {
  const answers: unknown[] = [];
  const ask = async (path_: string) => {
    const { status, body } = await get(`${base}/${path_}`, key);
    assert.equal(status, 200);
    return body;
  };
  for (const single of ['plans', 'metrics/summary']) answers.push(await ask(single));
  for (const listing of ['subscriptions', 'cancellations']) {
    for (let cursor: string | null = ''; cursor !== null;) {
      const from: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
      const { nextCursor, ...rows } = await ask(`${listing}?limit=100${from}`);
      answers.push(rows);
      cursor = nextCursor;
      for (const { subscriptionId, customerId } of rows.subscriptions ?? []) {
        answers.push(await ask(`subscriptions/${subscriptionId}`));
        answers.push(await ask(`entitlements?customerId=${customerId}`));
      }
    }
  }
  return answers;
}
