import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { statementsOf } from '../../src/store/migrate.ts';
import { findPostgresPrograms } from './postgres.ts';

const pgDump = path.join(findPostgresPrograms() ?? '', 'pg_dump');

/** Why schemas cannot be dumped; false if they can. */
export const pgDumpMissing: false | string =
  !existsSync(pgDump) && 'pg_dump is not available on this machine';
if (pgDumpMissing !== false && process.env['CI'])
  throw new Error(`${pgDumpMissing}, and in CI no test may be skipped.`);

/** A database's schema as pg_dump writes it, without the headings, settings and owners, which differ by version and server. */
export function dumpSchema(url: string): string {
  const options = ['--schema-only', '--no-owner', '--no-privileges'];
  const dump = execFileSync(pgDump, [...options, url], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const text = dump
    .replaceAll(/^--\n(?:-- .*\n)+--\n/gm, '')
    .replaceAll(/^(?:-- Dumped|SET |SELECT pg_catalog\.set_config|\\(?:un)?restrict ).*\n/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n');
  return `${text.trim()}\n`;
}

/** A schema's statements, without order, and without the whitespace of functions' bodies. */
export function sortedStatements(schema: string): string[] {
  return statementsOf(schema)
    .map((statement) => statement.replaceAll(/\s+/g, ' ').replaceAll(/(?<=\$) | (?=\$)/g, ''))
    .toSorted();
}
