import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { dumpShop } from '../../test/model/dump.ts';
import { openClient } from '../../test/support/client.ts';
import { golden, randomShops } from './fill.ts';
import { withoutRandom } from './forms.ts';
import type { Both, Report } from './report.ts';
import { type RunOptions, type Version, askedAt } from './version.ts';

/** Exports of other systems with mappings of the same names. */
const exports = [
  'recharge-subscriptions.csv',
  'shopify-contracts.csv',
  'stripe-subscriptions.csv',
  'vendors/samples/baremetrics-import.csv',
  'vendors/samples/chartmogul-plans.csv',
  'vendors/samples/woocommerce-subscriptions.csv',
].map((name) => fileURLToPath(new URL(`../../test/feeds/mapping/${name}`, import.meta.url)));

/** What only reads, with --json and without. */
const reading = [
  'shops list',
  'keys list --shop 101',
  'keys revoked --since 7d',
  'keys revoked --since 2026-11-01T00:00:00Z --shop 101',
  'owners list --shop 101',
  'ingest list --shop 101',
  'platforms list',
  'shopify requests --shop 101',
  'feeds status',
  'feeds status --shop 102',
  'ids --shop 101 --subscription 1',
  'metrics verify --shop 101',
  'metrics verify --shop 102',
  'metrics verify --shop 103',
  'metrics history --shop 102',
  'metrics history --shop 103 --days 3',
  'metrics cohorts --shop 102',
  'metrics cohorts --shop 101 --months 3 --plan 12',
  'metrics movements --shop 102 --from 30d --to 1h',
  'doctor',
  'migrate',
];

/** What changes something, in this order; each is run once. */
const changing = [
  'shops create --id 900 --name Mapped --currency USD --json',
  'shops create --id 900 --name Again --currency USD',
  'shops create --id 901 --name Other --currency EUR --tier starter',
  'shops set-tier 901 growth',
  'shops set-tier 901 pro --json',
  'keys create --shop 901 --name First --scopes read:plans,read:metrics --expires-in 30d --json',
  'keys create --shop 901 --name Second --scopes read:plans',
  'keys create --shop 106 --name Third --scopes read:plans',
  'keys revoke --shop 101 key_0000000000000000',
  'owners invite --shop 901 --email new@example.com --json',
  'owners invite --shop 901 --email other@example.com',
  'owners reset --email owner@example.com',
  'owners reset --email nobody@example.com',
  'owners remove --shop 106 --email owner@example.com --json',
  'owners remove --shop 106 --email nobody@example.com',
  'ingest create --shop 901 --name Pushes --json',
  'ingest create --shop 901 --name Pushes',
  'ingest create --shop 106 --name Pushes',
  'ingest rotate --shop 101 src_000000000000000000000000',
  'ingest revoke --shop 101 src_000000000000000000000000',
  'import --shop 101 golden.ndjson',
  'import --shop 901 golden.ndjson --json',
  'import --shop 901 --dry-run faulty.ndjson',
  'import --shop 901 faulty.ndjson --json',
  'import --shop 901 --complete --types plan,subscription faulty.ndjson',
  'import --shop 901 --complete --allow-shrink part.ndjson',
  'import --shop 901 missing.ndjson',
  'import --shop 901 --from shopify part.ndjson',
  'import --shop 999 golden.ndjson',
  'metrics rebuild --shop 901',
  'metrics rebuild --shop 101 --json',
  'metrics verify --shop 901',
  'shopify data-request --shop 101 --customer 1',
  'shopify uninstalled --shop 901',
  'shopify reinstalled --shop 901 --json',
  'shopify retry --shop 901',
  'platforms connect shopify --shop 901',
  'platforms connect nothing --shop 901',
  'platforms disconnect shopify --shop 901',
  'sync shopify --once --shop 901',
  'distribute --check',
  'keys list --shop 901',
  'feeds status --shop 901',
];

const printing = [
  'demo-data --subscriptions 20 --seed 3 --until 2026-11-01T00:00:00Z --currency JPY',
  'completion bash',
  'completion zsh',
  'completion fish',
  '--version',
];

/** Help and wrong usage beside what is tried with every command. */
const wrong = [
  '',
  'help keys',
  'metrics --help',
  'nothing',
  'shop list',
  'keys',
  'keys nothing',
  'help nothing',
  'shops create --id x --name A --currency USD',
  'shops create --id 1 --name A --currency XXX',
  'shops create --id 1 --name A --currency USD --tier gold',
  'shops create --id 1 --id 2 --name A --currency USD',
  'shops set-tier 101 gold',
  'shops set-tier 101',
  'keys create --shop 101 --name A --scopes read:nothing',
  'keys create --shop 101 --name A --scopes read:plans --expires-in 1y',
  'keys list --shop 0',
  'keys list --shop 999',
  'keys revoked --since yesterday',
  'owners invite --shop 101 --email x',
  'import --shop 101',
  'import --shop 101 --from nothing golden.ndjson',
  'import --shop 101 --as-of x golden.ndjson',
  'import --shop 101 --types plan golden.ndjson',
  'import --shop 101 --mapping golden.ndjson golden.ndjson',
  'ids --shop 101',
  'ids --shop 101 --plan 1 --customer 2',
  'ingest create --shop 101 --name A --scheme nothing',
  'ingest rotate --shop 101 src_1 --overlap 1x',
  'metrics history --shop 101 --days 0',
  'metrics cohorts --shop 101 --months 40',
  'metrics movements --shop 101 --from 1h --to 2h',
  'demo-data --subscriptions x',
  'serve --workers 0',
  'sync nothing',
];

/** Texts, results and exit statuses of every command, and the records that imports leave. */
export async function compareCommands(
  filled: Both<Version>,
  empty: Both<Version>,
  report: Report,
): Promise<void> {
  const lines = golden.trim().split('\n');
  const faulty = [
    ...lines.slice(0, 5),
    '{"type":"plan","id":"x"}',
    'not JSON',
    '{"type":"nothing"}',
  ];
  for (const { folder } of [filled.old, filled.new]) {
    const write = (name: string, text: string) =>
      writeFileSync(path.join(folder, name), `${text}\n`);
    write('golden.ndjson', golden.trim());
    write('faulty.ndjson', faulty.join('\n'));
    write('part.ndjson', lines.slice(0, 9).join('\n'));
  }
  const run = (
    pattern: string,
    command: string,
    { versions = filled, ...options }: RunOptions & { readonly versions?: Both<Version> } = {},
  ) => {
    const args = command.split(' ').filter((word) => word !== '');
    const ask = async (version: Version) => {
      const own = args.map((word) => word.replace('CHECKOUT', version.checkout));
      const { code, out, err } = await version.run(own, options);
      return neutral(version, `exit status ${code}\n${out}\n--- standard error\n${err}`);
    };
    const question = { kind: 'commands', pattern, asked: `retention ${command}` } as const;
    return report.ask(question, versions, ask, String);
  };

  const names = namesIn(await run('help', 'help'));
  for (const name of names) {
    await run('help', `${name} --help`);
    await run('wrong usage', `${name} --nothing 1`);
  }
  for (const command of wrong) await run('wrong usage', command);
  for (const command of printing) await run('printing', command);
  for (const command of reading) {
    await run('reading', command);
    await run('reading, as JSON', `${command} --json`);
  }
  for (const [index, command] of changing.entries()) {
    // A second later each, because lists are in the order of time.
    const at = new Date(Date.parse(askedAt) + 1000 * index).toISOString();
    await run('changing', command, { at });
  }
  for (const file of exports) {
    const name = path.parse(file).name;
    await run('mapping', `mapping suggest --json --as-of 2026-11-01 ${file}`);
    const mapped = `import --shop 900 --mapping CHECKOUT/mappings/${name}.json --as-of 2026-11-01 --json ${file}`;
    await run('mapping', mapped);
  }
  await compareRecords(filled, [900, 901], report);

  await run('empty database', 'migrate --json', { versions: empty });
  for (const shop of [{ id: 101, currency: 'USD', files: [golden] }, ...randomShops]) {
    const create = `shops create --id ${shop.id} --name Shop --currency ${shop.currency}`;
    await run('empty database', create, { versions: empty });
    const copy = `import --shop ${shop.id} --json -`;
    for (const input of shop.files) await run('empty database', copy, { versions: empty, input });
    await run('empty database', `metrics verify --shop ${shop.id} --json`, { versions: empty });
  }
  await compareRecords(empty, [101, ...randomShops.map(({ id }) => id)], report);
}

function namesIn(help: string): string[] {
  return [...help.matchAll(/^ {2}([a-z][\w-]*(?: [a-z][\w-]*)?) {2,}/gm)].map(
    ([, name = '']) => name,
  );
}

/** The rows of each table that imports write, by the table's name. */
async function dump({ databaseUrl }: Version, shopId: number): Promise<Map<string, string>> {
  const sql = openClient(databaseUrl);
  try {
    const tables = Object.entries(await dumpShop(sql, shopId));
    return new Map(tables.map(([name, rows]) => [name, withoutRandom(rows.join('\n'))]));
  } finally {
    await sql.end();
  }
}

async function compareRecords(versions: Both<Version>, shopIds: readonly number[], report: Report) {
  for (const shopId of shopIds) {
    const [old, next] = [await dump(versions.old, shopId), await dump(versions.new, shopId)];
    for (const table of new Set([...old.keys(), ...next.keys()])) {
      const pattern = `rows of ${table}`;
      const both = { old: old.get(table) ?? 'no table', new: next.get(table) ?? 'no table' };
      report.compare({ kind: 'commands', pattern, asked: `${pattern} of shop ${shopId}` }, both);
    }
  }
}

/** Without what differs in each process. */
function neutral(version: Version, text: string): string {
  return withoutRandom(version.neutral(text)).replaceAll(/\b\d+(?= ms off\b)/g, '…');
}
