import { readFileSync, writeFileSync } from 'node:fs';
import { migrate } from '../../src/store/migrate.ts';
import { connectAll } from '../../src/store/open.ts';
import { requirePostgres } from './postgres.ts';
import { onServer } from './replication.ts';
import { until } from './until.ts';

export interface ServingServer {
  /** The migrated database with its owner's login, who may create roles but is not a superuser. */
  readonly ownerUrl: string;
  urlFor(user: string, password: string): string;
  /** Runs a statement in that database as a superuser. */
  asAdmin(statement: string): Promise<Record<string, string>[]>;
  /** All statements that the server has logged. */
  log(): Promise<string>;
  destroy(): Promise<void>;
}

/** @param users who must log in with a password, once there are any */
export async function startServingServer(
  users: readonly [string, ...string[]],
): Promise<ServingServer> {
  const server = await requirePostgres([
    'fsync=off',
    'log_statement=all',
    'logging_collector=on',
    'log_rotation_size=0',
  ]);
  const adminUrl = server.url.replace(/postgres$/, 'shop');
  const ownerUrl = `postgres://owner@127.0.0.1:${server.port}/shop`;
  const urlFor = (user: string, password: string) =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${server.port}/shop`;
  const asAdmin = (statement: string) => onServer<Record<string, string>>(adminUrl, statement);

  await onServer(server.url, 'create role owner login createrole');
  await onServer(server.url, 'create database shop owner owner');
  // As in databases created before PostgreSQL 15.
  await asAdmin('grant create on schema public to public');
  const [shown] = await asAdmin('show hba_file');
  const file = shown?.['hba_file'] ?? '';
  const rules = users.map((user) => `host all ${user} 127.0.0.1/32 scram-sha-256\n`);
  writeFileSync(file, rules.join('') + readFileSync(file, 'utf8'));
  await asAdmin('select pg_reload_conf()');
  // For an unknown user the server returns 28000 until password authentication is enabled.
  await until(
    () => onServer(urlFor(users[0], 'none'), 'select').catch(({ code }: { code: string }) => code),
    (code) => code === '28P01',
  );

  const { write, close } = connectAll(ownerUrl);
  await migrate(write);
  await close();
  return {
    ownerUrl,
    urlFor,
    asAdmin,
    async log() {
      const [row] = await asAdmin('select pg_read_file(pg_current_logfile()) as text');
      return row?.['text'] ?? '';
    },
    destroy: () => server.destroy(),
  };
}
