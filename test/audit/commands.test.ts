import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { type Store, openStore } from '../../src/store/open.ts';
import { appendEntry } from '../../src/store/owners/audit.ts';
import { findOwnerByEmail } from '../../src/store/owners/owners.ts';
import { launchServer, migratedFolder, run } from '../cli/process.ts';
import { Visitor, newEmail, password, signedInOwner } from '../owner/visitor.ts';
import { startTestService } from '../support/world.ts';

interface Listed {
  readonly id: string;
  readonly at: string;
  readonly shop: number | null;
  readonly who: string;
  readonly session: string | null;
  readonly what: string;
  readonly target: string | null;
  readonly network: string | null;
}

describe('the commands of the audit log', { timeout: 600_000 }, () => {
  let store: Store;
  let dataDir: string;
  const key = randomBytes(32).toString('base64');
  const retention = (args: string, more: Readonly<Record<string, string>> = {}) =>
    run(args.split(' '), { env: { RETENTION_DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...more } });
  const list = async (args = '') =>
    JSON.parse((await retention(`audit list --json${args}`)).out) as Listed[];
  const day = 86_400_000;
  const ago = (days: number) => new Date(systemClock.now() - days * day);
  const by = { who: 'command line', session: 'shops set-tier' };

  before(async () => {
    dataDir = migratedFolder();
    store = await openStore({ databaseUrl: undefined, dataDir, role: 'serve' });
    for (const shop of [7, 8]) {
      await retention(`shops create --id ${shop} --name Lumen --currency USD`);
    }
  });
  after(() => store.close());

  test('list entries of all chains by time, with the addresses of owners', async () => {
    const service = await startTestService(store, { clock: systemClock });
    const { email, visitor } = await signedInOwner({
      store,
      clock: systemClock,
      service,
      shop: { id: 7 },
    });
    const unknown = new Visitor(service.baseUrl);
    await unknown.get('/app/sign-in');
    await unknown.post('/app/sign-in', { email: newEmail(), password });
    await visitor.get('/app/account');
    await visitor.post('/app/sign-out');
    await service.close();

    const entries = await list();
    const shown = entries.map(({ shop, who, session, what, target, network }) => [
      shop,
      who,
      session?.replace(/^[0-9a-f]{12}$/, '*') ?? null,
      what,
      target,
      network,
    ]);
    assert.deepEqual(
      shown.toSorted(),
      [
        [7, 'command line', 'shops create', 'shop_created', 'growth', null],
        [7, 'command line', null, 'owner_invited', `${email} (owner)`, null],
        [7, email, '*', 'owner_added', null, '127.0.0.0/24'],
        [7, email, '*', 'signed_out', null, '127.0.0.0/24'],
        [8, 'command line', 'shops create', 'shop_created', 'growth', null],
        [null, 'visitor', null, 'unknown_sign_in_failed', null, '127.0.0.0/24'],
      ].toSorted(),
    );
    assert.equal(new Set(entries.map(({ id }) => id)).size, 6);
    const times = entries.map(({ at }) => at);
    assert.deepEqual(times, times.toSorted());
    const stored = await findOwnerByEmail(store.write, email);
    assert.doesNotMatch(JSON.stringify(entries), new RegExp(stored?.ownerId ?? '-'));

    const table = await retention('audit list --shop 7');
    assert.match(table.out, /^AT +SHOP +WHO +WHAT +NETWORK +SESSION\n/);
    assert.match(table.out, new RegExp(`the command line +invited ${email} \\(owner\\)`));
    assert.equal((await list(' --shop 8')).length, 1);
    assert.deepEqual(await list(' --shop 9'), []);
  });

  test('list what is not older than a time', async () => {
    await appendEntry(store.write, 8, { at: ago(3), by, what: 'tier_set', target: 'pro' });
    assert.equal((await list(' --shop 8 --since 4d')).length, 2);
    assert.deepEqual(
      (await list(' --shop 8 --since 2d')).map(({ what }) => what),
      ['shop_created'],
    );
  });

  const tamper = (statement: string) =>
    store.write.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx.unsafe(statement);
    });

  test('verify that nothing is missing or changed, and compare with a head that was kept', async () => {
    for (let count = 0; count < 3; count += 1) {
      await appendEntry(store.write, 8, { at: ago(0), by, what: 'tier_set', target: 'pro' });
    }
    const whole = await retention('audit verify --json');
    assert.equal(whole.code, 0, whole.err);
    const { ok, chains } = JSON.parse(whole.out);
    assert.equal(ok, true);
    const [, , eight] = chains as { shop: number | null; head: string; last: number }[];
    assert.deepEqual(
      chains.map(({ shop }: Listed) => shop),
      [null, 7, 8],
    );
    assert.ok(eight);
    const head = eight.head.toUpperCase();
    assert.equal((await retention(`audit verify --shop 8 --head ${head}`)).code, 0);
    assert.equal((await retention(`audit verify --shop 7 --head ${head}`)).code, 1);
    // A shop that there never was has no chain that could be whole.
    const unknown = await retention('audit verify --shop 78');
    assert.deepEqual(
      [unknown.code, unknown.err],
      [1, 'retention: There is no shop 78, and the audit log has no entries of it.\n'],
    );
    const wrong = await retention('audit verify --head abc');
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--head takes hashes of 64 hexadecimal digits/);

    await tamper(`update audit_entries set target = 'free' where shop_id = 8 and number = 3`);
    const changed = await retention('audit verify');
    assert.equal(changed.code, 1);
    assert.match(changed.out, /^Shop 7 +1 to \d+ +[0-9a-f]{64} +whole$/m);
    assert.match(changed.out, /^Shop 8 +1 to 5 +[0-9a-f]{64} +broken$/m);
    assert.match(changed.out, /^Shop 8: Entry 3 was changed\.$/m);
    await tamper(`update audit_entries set target = 'pro' where shop_id = 8 and number = 3`);
    assert.equal((await retention('audit verify')).code, 0);

    // The end is cut, and the head is set back: only the kept one shows it.
    await tamper('delete from audit_entries where shop_id = 8 and number = 5');
    assert.match((await retention('audit verify')).out, /^Shop 8: Entry 5 is missing\.$/m);
    await tamper(`update audit_heads h set number = 4, hash = e.hash from audit_entries e
      where h.shop_id = 8 and e.shop_id = 8 and e.number = 4`);
    assert.equal((await retention('audit verify')).code, 0);
    const cut = await retention(`audit verify --head ${eight.head}`);
    assert.equal(cut.code, 1);
    assert.match(cut.out, new RegExp(`No entry has the hash ${eight.head}`));
  });

  test('prune what is older than 400 days, or as long as is said', async () => {
    await appendEntry(store.write, 9, { at: ago(500), by, what: 'tier_set', target: 'pro' });
    await appendEntry(store.write, 9, { at: ago(300), by, what: 'tier_set', target: 'free' });
    const env = { CREDENTIALS_KEY: key };
    const pruned = await retention('audit prune --json', env);
    assert.deepEqual(JSON.parse(pruned.out), [{ shop: 9, upTo: 1 }]);
    assert.equal((await retention('audit prune', env)).out, 'No entry is that old.\n');
    assert.equal((await retention('audit verify', env)).code, 0);
    const other = { CREDENTIALS_KEY: randomBytes(32).toString('base64') };
    assert.equal((await retention('audit verify', other)).code, 1);
    assert.equal((await retention('audit prune --shop 9 --keep 200d', env)).code, 0);
    assert.deepEqual(
      (await list(' --shop 9')).map(({ what }) => what),
      ['entries_pruned', 'entries_pruned'],
    );
    assert.equal((await retention('audit verify', env)).code, 0);
    const shown = await retention('audit list --shop 9');
    assert.match(shown.out, /removed the entries of this log up to number 2 /);
  });
});

describe('AUDIT_LOG=stdout', { timeout: 600_000 }, () => {
  test('has the entries of the server on standard output, and of a command on standard error', async () => {
    const dataDir = migratedFolder();
    const env = { RETENTION_DATA_DIR: dataDir, AUDIT_LOG: 'stdout' };
    const create = 'shops create --id 7 --name Lumen --currency USD --json'.split(' ');
    const created = await run(create, { env: { ...env, LOG_LEVEL: 'silent' } });
    // Standard output has the result alone.
    assert.equal(JSON.parse(created.out).id, 7);
    assert.equal(JSON.parse(created.err).what, 'shop_created');
    const server = await launchServer('serve', env);
    const invite = 'owners invite --shop 7 --email ana@example.com --json'.split(' ');
    const { url } = JSON.parse((await run(invite, { env })).out) as { url: string };
    const { pathname } = new URL(url);
    const visitor = new Visitor(server.baseUrl);
    await visitor.get(pathname);
    await visitor.post(pathname, { password });
    const [line] = await server.said(/^\{.*\}$/m);
    const { hash, ...entry } = JSON.parse(line) as Listed & { readonly hash: string };
    assert.deepEqual(
      [entry.id, entry.shop, entry.what, entry.network],
      ['7-3', 7, 'owner_added', '127.0.0.0/24'],
    );
    // No address: logs go further than the database.
    assert.match(entry.who, /^owner [0-9a-f-]{36}$/);
    const verified = await run(['audit', 'verify', '--head', hash], { env });
    assert.equal(verified.code, 0, verified.out);
    await server.logged(
      /"heads":\[\{"shopId":7,"number":1,"hash":"[0-9a-f]{64}"\}\],"msg":"audit heads"/,
    );
    server.child.kill('SIGTERM');
    await server.ended;
  });

  test('is off or stdout', async () => {
    const { code, err } = await run(['audit', 'list'], { env: { AUDIT_LOG: 'file' } });
    assert.equal(code, 2);
    assert.match(err, /AUDIT_LOG must be off or stdout\./);
  });
});
