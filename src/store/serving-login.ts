import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { Login } from '../config/database-url.ts';
import { CommandError } from '../errors.ts';
import { findCitusVersion } from './cluster/cluster.ts';
import { type Sql, type Transaction, arrayText, byShop, embeddedRole } from './database.ts';
import { lockMigrations } from './locks.ts';
import type { Store } from './open.ts';

/**
 * All tables that `store.primary` and `store.readRecent` use, and all that the login may read. Each has a view of the same
 * name in the schema `served`, which shows the rows of one shop (migrations/serving.sql).
 */
const servedTables = [
  'api_keys',
  'cancellation_sessions',
  'contacted_cases',
  'customer_values',
  'departures',
  'dunning_cases',
  'failed_cycles',
  'feeds',
  'metric_ledger',
  'metric_shops',
  'payments',
  'plans',
  'price_changes',
  'refunds',
  'shops',
  'status_events',
  'subscriber_changes',
  'subscriber_facts',
  'subscription_lines',
  'subscription_values',
  'subscriptions',
  'superseded_facts',
] as const;

/** What shows the rows that it is asked for, of any shop. */
const askedView = 'public.asked_entitlements';

/** @param isHeld whether the login sees the rows of one shop at a time */
const relationsFor = (isHeld: boolean) => [
  ...servedTables.map((name) => `${isHeld ? 'served' : 'public'}.${name}`),
  askedView,
];

/** Why a login that serves requests sees all shops. */
export type SeesAll = 'older instance' | 'Citus';

/** The server rejects the password, requires one, or has no such user. */
const loginErrors: ReadonlySet<unknown> = new Set(['28P01', '28000']);

/** The server knows the user, who may not connect to this database yet. */
const notGranted = '42501';

/**
 * Creates the login of DATABASE_SERVE_URL, or sets its password to the one in the address, and reduces its
 * privileges to reading what is served, of one shop at a time. Idempotent.
 * @param store whose `primary` uses the login
 * @returns why it sees the rows of all shops, if it does
 * @throws CommandError if the login still has other privileges, or cannot be used
 */
export async function createServingLogin(store: Store, login: Login): Promise<SeesAll | undefined> {
  await rejectPrivilegedUser(store.write, login);
  const canLogIn = await store.primary.keys`select 1`.then(
    () => true,
    (error: unknown) => {
      const { code } = error as { code?: unknown };
      if (code !== notGranted && !loginErrors.has(code)) throw error;
      return code === notGranted;
    },
  );
  const seesAll = await findWhyAll(store.write, login.user);
  await store.write.begin(async (tx) => {
    await lockMigrations(tx);
    if (!canLogIn) await setPassword(tx, login);
    await resetSearchPath(tx, login.user);
    await revokeAll(tx, login.user);
    const database = await nameOfDatabase(tx);
    await runFormatted(tx, 'grant connect on database %I to %I', [database, login.user]);
    await grantReading(tx, login.user, seesAll === undefined);
  });
  store.primary.keys.reset();
  await checkServingLogin(store, login);
  return seesAll;
}

/**
 * Lets the login of DATABASE_SERVE_URL read tables that a migration has added, of one shop at a time if that is how it
 * sees the others.
 * @param store whose `primary` uses the login
 * @throws CommandError if the login cannot be used, or has other privileges than reading what is served
 */
export async function prepareServingLogin(store: Store, login: Login): Promise<void> {
  const isHeld = await isHeldToShops(store.write, login.user);
  await grantMissing(store.write, login.user, isHeld);
  await checkServingLogin(store, login);
}

/**
 * Creates the role that serves requests from the embedded database, which has no logins, or lets it read what a
 * migration has added.
 * @param write connections to the embedded database
 */
export async function prepareEmbeddedRole(write: Sql): Promise<void> {
  const [role] = await write`select from pg_roles where rolname = ${embeddedRole}`;
  if (!role) await write.unsafe(`create role ${embeddedRole}`);
  await grantMissing(write, embeddedRole, true);
}

async function grantMissing(write: Sql, user: string, isHeld: boolean): Promise<void> {
  const [missing] = await write`
    select from pg_roles r
    where r.rolname = ${user}
      and exists (select from unnest(${arrayText(relationsFor(isHeld))}::text[]) name
        where not has_table_privilege(r.oid, name, 'select'))`;
  if (!missing) return;
  await write.begin(async (tx) => {
    await lockMigrations(tx);
    await grantReading(tx, user, isHeld);
  });
}

async function checkServingLogin({ primary }: Store, { user }: Login): Promise<void> {
  let problems: string[];
  try {
    problems = await listServingProblems(primary.keys);
  } catch (error) {
    throw new CommandError(
      `The login "${user}" of DATABASE_SERVE_URL cannot be used: ${(error as Error).message}. Run "retention migrate --roles" to create it.`,
      { cause: error },
    );
  }
  if (problems.length > 0) {
    throw new CommandError(
      `The login "${user}" of DATABASE_SERVE_URL must be able to read the served tables and nothing else: ${problems.join('; ')}. "retention migrate --roles" fixes what the login of DATABASE_URL has permission to fix.`,
    );
  }
}

/**
 * Lists privileges that the login has beyond reading what is served, and those that it lacks. Tables of
 * other programs count only if it could write to them.
 * @param sql a connection of that login
 */
export async function listServingProblems(sql: Sql): Promise<string[]> {
  const relations = arrayText(relationsFor(await isHeldToShops(sql)));
  const problems = await sql<{ problem: string }[]>`
    with me as (
      select oid, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
      from pg_roles where rolname = current_user
    ), relations as (
      select c.oid, case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name,
        n.nspname as schema, c.relowner,
        c.relowner = (select relowner from pg_class where oid = to_regclass('public.shops'))
          and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass
            and d.objid = c.oid and d.deptype = 'e') as is_ours
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
    ), served as (
      select replace(name, 'public.', '') as name, to_regclass(name) as oid
      from unnest(${relations}::text[]) name
    ), problems as (
      select 1 as rank, 'it is a superuser' as problem from me where rolsuper
      union all
      select 2, 'it may change roles, databases or replication' from me
      where rolcreaterole or rolcreatedb or rolreplication
      union all
      select 2, 'it bypasses row-level security' from me where rolbypassrls
      union all
      select 3, 'it is a member of ' || string_agg(roleid::regrole::text, ', ' order by roleid)
      from pg_auth_members m join me on m.member = me.oid having count(*) > 0
      union all
      select 3, 'its search_path is changed (' || setting || ')'
      from pg_db_role_setting s join me on s.setrole = me.oid, unnest(s.setconfig) setting
      where setting like 'search_path=%'
        and s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
      union all
      select 4, 'it cannot read ' || string_agg(name, ', ' order by name) from served
      where oid is null or not has_table_privilege(oid, 'select') having count(*) > 0
      union all
      select 5, 'it owns ' || string_agg(name, ', ' order by name)
      from relations join me on relowner = me.oid having count(*) > 0
      union all
      select 5, 'it may write to ' || string_agg(name, ', ' order by name) from relations
      where has_table_privilege(oid, 'insert, update, delete, truncate, trigger')
        or has_any_column_privilege(oid, 'insert, update') having count(*) > 0
      union all
      select 6, 'it may read ' || string_agg(r.name, ', ' order by r.name) from relations r
      where is_ours and has_any_column_privilege(oid, 'select')
        and has_schema_privilege(r.schema, 'usage')
        and not exists (select from served where served.oid = r.oid) having count(*) > 0
      union all
      select 7, 'it may create in the schema ' || string_agg(nspname, ', ' order by nspname)
        || ' (as the owner, run: revoke create on schema ... from public)'
      from pg_namespace
      where nspname !~ '^pg_' and has_schema_privilege(oid, 'create') having count(*) > 0
      union all
      select 8, 'it may create schemas'
      where has_database_privilege(current_database(), 'create')
    )
    select problem from problems
    -- For a superuser all other problems are true as well.
    where rank = 1 or not (select rolsuper from me)
    order by rank`;
  return problems.map(({ problem }) => problem);
}

/**
 * Whether a login sees the rows of one shop at a time.
 * @param user by default that of the connection
 */
export async function isHeldToShops(sql: Sql, user: string | null = null): Promise<boolean> {
  const [held] = await sql`
    select from pg_namespace n, pg_roles r
    where n.nspname = 'served' and r.rolname = coalesce(${user}, current_user)
      and has_schema_privilege(r.oid, n.oid, 'usage')`;
  return held !== undefined;
}

async function findWhyAll(sql: Sql, user: string): Promise<SeesAll | undefined> {
  if ((await findCitusVersion(sql)) !== undefined) return 'Citus';
  if (await isHeldToShops(sql, user)) return undefined;
  // It names no shop, and reads the tables themselves.
  const [older] = await sql`
    select from pg_stat_activity
    where usename = ${user} and datname = current_database()
      and application_name ~ '^retention (?:read |analyse|segments)'
      and not starts_with(reverse(application_name), reverse(${byShop})) limit 1`;
  return older && 'older instance';
}

/** A mistyped name must not change an administrator's password or take rights from a table owner. */
async function rejectPrivilegedUser(sql: Sql, { user }: Login): Promise<void> {
  const [other] = await sql`
    select from pg_roles r where rolname = ${user} and (
      rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls
      or exists (select from pg_shdepend
        where refclassid = 'pg_authid'::regclass and refobjid = r.oid and deptype = 'o'))`;
  if (other) {
    throw new CommandError(
      `The user "${user}" of DATABASE_SERVE_URL can administer the server or owns objects in it, so it was not changed. Use a separate user.`,
    );
  }
}

/** Sends only the verifier to the server, so that the password never appears in its logs. */
async function setPassword(tx: Transaction, { user, password }: Login): Promise<void> {
  const [role] = await tx`select from pg_roles where rolname = ${user}`;
  await runFormatted(
    tx,
    `${role ? 'alter' : 'create'} role %I login${password === undefined ? '' : ' password %L'}`,
    password === undefined ? [user] : [user, scramVerifier(password)],
  );
}

/** @param isHeld whether it is to see the rows of one shop at a time */
async function grantReading(tx: Transaction, user: string, isHeld: boolean): Promise<void> {
  const schemas = isHeld ? 'public, served' : 'public';
  await runFormatted(tx, `grant usage on schema ${schemas} to %I`, [user]);
  await runFormatted(tx, `grant select on ${relationsFor(isHeld).join(', ')} to %I`, [user]);
}

/** A login can change its own settings, including its search_path. */
async function resetSearchPath(tx: Transaction, user: string): Promise<void> {
  const [changed] = await tx`
    select from pg_db_role_setting s join pg_roles r on r.oid = s.setrole, unnest(s.setconfig) setting
    where r.rolname = ${user} and setting like 'search_path=%' limit 1`;
  if (!changed) return;
  await runFormatted(tx, 'alter role %I reset search_path', [user]);
  await runFormatted(tx, 'alter role %I in database %I reset search_path', [
    user,
    await nameOfDatabase(tx),
  ]);
}

async function nameOfDatabase(tx: Transaction): Promise<string> {
  const [database] = await tx<{ name: string }[]>`select current_database() as name`;
  return database?.name ?? '';
}

/** Covers only schemas of DATABASE_URL's login, which cannot revoke other rights. */
async function revokeAll(tx: Transaction, user: string): Promise<void> {
  const schemas = await tx<{ name: string; isPublic: boolean }[]>`
    select nspname as name, has_schema_privilege('public', oid, 'create') as "isPublic"
    from pg_namespace
    where nspname !~ '^pg_' and nspname <> 'information_schema'
      and pg_has_role(nspowner, 'usage')`;
  for (const { name, isPublic } of schemas) {
    await runFormatted(tx, 'revoke all on all tables in schema %I from %I', [name, user]);
    await runFormatted(tx, 'revoke all on all sequences in schema %I from %I', [name, user]);
    await runFormatted(tx, 'revoke all on schema %I from %I', [name, user]);
    // Before PostgreSQL 15, everyone may create tables in "public".
    if (isPublic) {
      await runFormatted(tx, 'grant create on schema %I to current_user', [name]);
      await runFormatted(tx, 'revoke create on schema %I from public', [name]);
    }
  }
}

/** These statements take no parameters, so the server quotes the names itself. */
async function runFormatted(tx: Transaction, template: string, values: string[]): Promise<void> {
  const [formatted] = await tx<{ statement: string }[]>`
    select format(${template}, variadic array(
      select value from json_array_elements_text(${JSON.stringify(values)}::text::json) value
    )) as statement`;
  await tx.unsafe(formatted?.statement ?? '');
}

/** The SCRAM verifier that PostgreSQL stores (RFC 5803), computed as psql's `\password` does. */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyFor = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(keyFor('Client Key')).digest('base64');
  const serverKey = keyFor('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
