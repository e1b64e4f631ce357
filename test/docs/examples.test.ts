import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deriveCustomerId, deriveId } from '../../src/ingest/source-ids.ts';
import { subscription } from '../rest/records.ts';
import { until } from '../support/until.ts';
import {
  createTestKey,
  importAll,
  now,
  openAnyStore,
  startWorld,
  type World,
} from '../support/world.ts';
import { type Example, exampleShop, examplesIn, programsMissing, runExample } from './examples.ts';
import { pagePaths } from './serving.ts';

/** What the shop has besides, for a page whose example needs more. */
const more: Readonly<Record<string, readonly object[]>> = {
  '/docs/paging': Array.from({ length: 201 }, (_, index) =>
    subscription(5000 + index, { planId: 12, createdAt: '2026-09-01T00:00:00Z' }),
  ),
};

async function startExampleWorld(records: readonly object[] = []): Promise<World> {
  const world = await startWorld(openAnyStore(), { tier: 'pro' });
  const { refused } = await importAll(world.store, world.shop, [...exampleShop, ...records]);
  assert.deepEqual(refused, []);
  return world;
}

async function readExamples({ service }: World, page: string): Promise<Example[]> {
  return examplesIn(await (await fetch(`${service.baseUrl}${page}.md`)).text());
}

describe('the examples of the documentation', { skip: programsMissing }, () => {
  let shared: World;
  before(async () => {
    shared = await startExampleWorld();
  });
  after(() => shared?.close());

  for (const page of pagePaths) {
    test(`of ${page} do what the page says`, async (t) => {
      const records = more[page];
      const world = records ? await startExampleWorld(records) : shared;
      if (records) t.after(() => world.close());
      // Each page may use the limit of a key.
      const { key } = await createTestKey(world.store, world.shop.id);
      for (const example of await readExamples(world, page)) {
        const { code, expected } = example;
        const { status, output, errors } = await runExample(example, key);
        assert.equal(status, 0, `${code}\n${errors}`);
        assert.doesNotMatch(output, /"success":\s*false|'success': False|"error":/, code);
        assert.doesNotMatch(output, /subscriptions['"]?:\s*\[\s*\]/, code);
        if (expected?.language === 'json') {
          assert.deepEqual(JSON.parse(output), JSON.parse(expected.text), code);
        } else if (expected) {
          assert.equal(output.trim(), expected.text, code);
        }
      }
    });
  }

  test('are in every language, and many show their output', async () => {
    const all = (await Promise.all(pagePaths.map((page) => readExamples(shared, page)))).flat();
    for (const language of ['sh', 'js', 'python']) {
      assert.ok(all.filter((each) => each.language === language).length >= 10, language);
    }
    assert.ok(all.filter(({ expected }) => expected).length >= 14);
  });

  test('give customers the numbers that the import derives', async () => {
    const examples = await readExamples(shared, '/docs/ids');
    assert.deepEqual(
      [...new Set(examples.map(({ expected }) => expected?.text))],
      [
        deriveId('customer', 'cus_NffrFeUfNV2Hib'),
        deriveCustomerId('0f'.repeat(32), 'ann@example.com'),
      ].map(String),
    );
  });
});

describe('the entitlement check of the guide', { skip: programsMissing }, () => {
  const codeIn = async (world: World, language: string) => {
    const examples = await readExamples(world, '/docs/entitlements');
    return examples.find((each) => each.language === language)?.code ?? assert.fail(language);
  };

  test('goes on without the API until what was paid for ends, in Python', async (t) => {
    const world = await startExampleWorld();
    t.after(() => world.close());
    const outage = `
def fail(*_, **__):
    raise OSError("away")

answered_at = time.time()
paid_until = datetime.fromisoformat("2026-12-16T07:15:02.117Z").timestamp()
has_plan(3090, 16)
urllib.request.urlopen = fail
for seconds in (0, 120, 3500):
    time.time = lambda: answered_at + seconds
    assert has_plan(2352, 12) and has_plan(3090, 16) and not has_plan(2352, 17), seconds
time.time = lambda: max(answered_at + 3600, paid_until) + 1
assert not has_plan(2352, 12) and not has_plan(3090, 16)
try:
    has_plan(1, 12)
    assert False
except OSError:
    print("done")
`;
    const code = `${await codeIn(world, 'python')}${outage}`;
    const { output, errors } = await runExample({ language: 'python', code }, world.key);
    assert.match(output, /^entitled\ndone\n$/, errors);
  });

  test('asks once a minute, and goes on without the API, in JavaScript', async (t) => {
    const world = await startExampleWorld();
    t.after(() => world.close());
    const folder = mkdtempSync(path.join(tmpdir(), 'retention-docs-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = path.join(folder, 'check.mjs');
    writeFileSync(file, `${await codeIn(world, 'js')}\nexport { hasPlan };`);
    process.env['RETENTION_API_KEY'] = world.key;
    t.after(() => delete process.env['RETENTION_API_KEY']);
    const said = t.mock.method(console, 'log', () => {});
    const logged = t.mock.method(console, 'error', () => {});
    const asked = t.mock.method(globalThis, 'fetch');
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(now) });
    const { hasPlan }: { hasPlan(customerId: number, planId: number): Promise<boolean> } =
      await import(pathToFileURL(file).href);
    await until(() => said.mock.callCount() === 1);
    assert.equal(asked.mock.callCount(), 1);

    assert.equal(await hasPlan(2352, 12), true);
    assert.equal(await hasPlan(2352, 17), false);
    assert.equal(asked.mock.callCount(), 1);
    t.mock.timers.tick(60_000);
    assert.equal(await hasPlan(2352, 12), true);
    assert.equal(await hasPlan(3090, 16), true);
    assert.equal(asked.mock.callCount(), 3);

    await world.service.close();
    t.mock.timers.tick(60_000);
    assert.equal(await hasPlan(2352, 12), true);
    // An hour without a known end of what was paid for.
    assert.equal(await hasPlan(3090, 16), true);
    t.mock.timers.tick(3_600_000);
    assert.equal(await hasPlan(3090, 16), false);
    assert.equal(await hasPlan(2352, 12), true);
    t.mock.timers.setTime(Date.parse('2026-12-16T07:15:02.117Z'));
    assert.equal(await hasPlan(2352, 12), false);
    assert.equal(logged.mock.callCount(), 5);
    await assert.rejects(hasPlan(1, 12));
  });
});
