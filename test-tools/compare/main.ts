/*
 * Compares everything that two versions say: `npm run compare -- OTHER_CHECKOUT`. The other, older one fills a database;
 * both serve a copy of it, with their clocks stopped at the same time, and are asked the same.
 */
import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openClient } from '../../test/support/client.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { compareCommands } from './commands.ts';
import { compareDocs } from './docs.ts';
import { fillDatabase } from './fill.ts';
import { sendForms } from './forms.ts';
import { compareMcp } from './mcp.ts';
import { comparePages } from './pages.ts';
import { type Both, Report, kinds } from './report.ts';
import { compareRest } from './rest.ts';
import { Version } from './version.ts';
import { Visitor } from './visitor.ts';

const { values, positionals } = parseArgs({
  options: { only: { type: 'string' }, list: { type: 'boolean' } },
  allowPositionals: true,
});
const wanted = values.only?.split(',') ?? kinds;
const [other = ''] = positionals;
const areKinds = wanted.every((each) => kinds.some((kind) => kind === each));
if (!areKinds || !existsSync(path.join(other, 'node_modules'))) {
  process.stderr.write(
    `Usage: npm run compare -- [--only ${kinds.join(',')}] [--list] OTHER_CHECKOUT\n` +
      '--list says what is asked, a line each. The other checkout needs "npm ci", too.\n',
  );
  process.exit(2);
}
const checkouts = { old: realpathSync(other), new: path.join(import.meta.dirname, '../..') };

const say = (line: string) => void process.stdout.write(`${line}\n`);
const folder = mkdtempSync(path.join(tmpdir(), 'retention-compare-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const postgres = await startPostgres(['fsync=off', 'max_connections=200'], { isNew: true });
if (!postgres) throw new Error('PostgreSQL is not installed.');
const sql = openClient(postgres.url);

/** A version with a new database, which is empty or a copy. */
async function open(name: 'old' | 'new', use: string, template = 'template1'): Promise<Version> {
  const database = `${name}_${use}`;
  await sql.unsafe(`create database ${database} template ${template}`);
  const url = new URL(`/${database}`, postgres?.url).href;
  return new Version(name, checkouts[name], path.join(folder, name), url);
}

async function both(use: string, template?: string): Promise<Both<Version>> {
  return { old: await open('old', use, template), new: await open('new', use, template) };
}

async function compare(report: Report): Promise<void> {
  const source = await open('old', 'filled');
  const filled = await fillDatabase(source);
  const versions = await both('served', 'old_filled');
  cpSync(source.folder, versions.new.folder, { recursive: true });
  const servers = { old: await versions.old.serve(), new: await versions.new.serve() };
  const clients = (visitor: Visitor): Both<Visitor> => ({
    old: visitor.at(servers.old.port),
    new: visitor.at(servers.new.port),
  });
  const [owners, anonymous] = [clients(filled.visitor), () => clients(new Visitor(0))];
  try {
    const forms = report.wants('pages', 'files', 'forms')
      ? await comparePages(owners, anonymous(), report)
      : [];
    if (report.wants('docs')) await compareDocs(anonymous(), report);
    if (report.wants('rest')) await compareRest(anonymous(), report, filled);
    if (report.wants('mcp')) await compareMcp(anonymous(), report, filled);
    // Last, because they change what the others show.
    if (report.wants('forms')) {
      const tick = () => Object.values(servers).forEach((server) => server.tick());
      await sendForms(owners, report, forms, tick);
    }
  } finally {
    await Promise.all([servers.old.stop(), servers.new.stop()]);
  }
  if (report.wants('commands')) {
    await compareCommands(await both('commands', 'old_filled'), await both('empty'), report);
  }
}

try {
  const report = new Report(wanted, folder, values.list === true ? say : () => {});
  await compare(report);
  say(String(report));
  process.exitCode = report.hasDifferences ? 1 : 0;
} finally {
  await sql.end();
  await postgres.destroy();
}
