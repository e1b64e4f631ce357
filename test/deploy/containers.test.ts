import assert from 'node:assert/strict';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { parseConfig } from '../../src/config/config.ts';
import { root, run, runProcess } from '../cli/process.ts';
import { openClient } from '../support/client.ts';
import { findPostgresPrograms, startPostgres } from '../support/postgres.ts';
import { all, known, read, withoutComments } from './variables.ts';

/**
 * Checks the deployment files against what they refer to, since test machines may not have Docker or
 * systemd.
 */
const compose = withoutComments(read('compose.yaml'));
const unit = withoutComments(read('deploy/retention.service'));
const example = withoutComments(read('.env.example'));
const { bin } = JSON.parse(read('package.json'));

/** The source text of a service in compose.yaml. */
function serviceOf(name: string): string {
  const [, block = ''] = new RegExp(`^  ${name}:\\n((?:    .*\\n|\\n)+)`, 'm').exec(compose) ?? [];
  assert.notEqual(block, '', name);
  return block;
}

function environmentOf(name: string): string[] {
  const [, block = ''] = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(serviceOf(name)) ?? [];
  return all(block, /^ {6}(\w+):/gm);
}

describe('the services of compose.yaml', () => {
  test('set only known variables, and all but those that are fixed in a container', () => {
    const given = environmentOf('service');
    assert.deepEqual(
      [...given, ...environmentOf('sync')].filter((name) => !known.has(name)),
      [],
    );
    const fixed =
      'HOST PORT RETENTION_DATA_DIR UPLOAD_DIR STOP_SECONDS RETENTION_NODE NODE_OPTIONS NODE_COMPILE_CACHE';
    // A standby, a file of credentials and stand-ins for platforms are no part of this set of containers.
    const absent =
      'DATABASE_READ_URL SHOPIFY_CREDENTIALS_FILE SHOPIFY_BASE_URL STRIPE_API_URL RECHARGE_API_URL';
    assert.deepEqual(
      [...known].filter((name) => !name.startsWith('OTEL_') && !given.includes(name)).toSorted(),
      `${fixed} ${absent}`.split(' ').toSorted(),
    );
    assert.equal(given.filter((name) => name.startsWith('OTEL_')).length, 5);
  });

  test('use exactly the variables in .env.example, which contains no secrets', () => {
    const used = [...new Set(all(compose, /\$\{(\w+)/g))];
    const offered = all(example, /^(\w+)=/gm);
    // Docker reads the one itself.
    assert.deepEqual([...used, 'COMPOSE_PROFILES'].toSorted(), offered.toSorted());
    const ofOthers = /_(?:PASSWORD|IMAGE)$|^(?:COMPOSE_PROFILES|DOMAIN)$/;
    assert.deepEqual(
      offered.filter((name) => known.has(name) === ofOthers.test(name)),
      [],
    );
    assert.deepEqual(all(example, /^(\w*PASSWORD=.+)$/gm), []);
    for (const name of offered.filter((each) => each.endsWith('PASSWORD'))) {
      assert.match(compose, new RegExp(`\\$\\{${name}:\\?`), `${name} may be missing`);
    }
    assert.match(read('.gitignore'), /^\.env$/m);
  });

  test('address each other by service name', () => {
    const hosts = all(compose, /@([a-z]+):\d+/g);
    assert.deepEqual(hosts, ['database', 'limits', 'database']);
    for (const host of hosts) serviceOf(host);
    assert.match(serviceOf('proxy'), /^ {6}UPSTREAM: service:8787$/m);
    const variables = all(read('deploy/Caddyfile'), /\{\$(\w+)/g);
    assert.deepEqual(variables.toSorted(), environmentOf('proxy').toSorted());
  });

  test('have minimal privileges, and resource limits', () => {
    for (const name of ['database', 'limits', 'service', 'sync', 'proxy']) {
      const service = serviceOf(name);
      for (const line of [
        'read_only: true',
        'cap_drop: [ALL]',
        "security_opt: ['no-new-privileges:true']",
      ]) {
        assert.ok(service.includes(`    ${line}\n`), `${name}: ${line}`);
      }
      for (const bound of [/mem_limit: \d+[mg]/, /cpus: [12]/, /pids_limit: \d+/]) {
        assert.match(service, new RegExp(`^ {4}${bound.source}$`, 'm'), name);
      }
      const added = all(service, /cap_add: (.*)/g);
      assert.deepEqual(added, name === 'proxy' ? ['[NET_BIND_SERVICE]'] : [], name);
      assert.doesNotMatch(service, /privileged: true|network_mode|docker\.sock/, name);
    }
    // The service's own image sets its user in the Dockerfile.
    assert.match(serviceOf('database'), /^ {4}user: postgres$/m);
    assert.match(serviceOf('limits'), /^ {4}user: valkey$/m);
    assert.doesNotMatch(serviceOf('service'), /^ {4}user:/m);
  });

  test('have images that can be changed without editing compose.yaml', () => {
    const images = all(compose, /^ {4}image: (.+)$/gm);
    const named = all(example, /^(\w+_IMAGE=.+)$/gm).map((each) => each.split('='));
    const [postgres, valkey, caddy] = named.map(([name, image]) => `\${${name}:-${image}}`);
    assert.deepEqual(images, [postgres, valkey, 'retention', 'retention', caddy]);
    assert.deepEqual(
      named.map(([name, image = '']) => [name, image.split(/[:.]/, 2).join(':')]),
      [
        ['POSTGRES_IMAGE', 'postgres:17'],
        ['VALKEY_IMAGE', 'valkey/valkey:8'],
        ['CADDY_IMAGE', 'caddy:2'],
      ],
    );
  });

  const programs = findPostgresPrograms();
  const skip = programs === undefined && 'PostgreSQL is not available on this machine';
  test(
    'the script creates a login that owns its database and is not a superuser',
    { skip },
    async () => {
      const mount =
        '      - ./deploy/create-login.sh:/docker-entrypoint-initdb.d/create-login.sh:ro\n';
      assert.ok(serviceOf('database').includes(mount));
      const server = await startPostgres(['fsync=off']);
      assert.ok(server && programs !== undefined);
      const admin = openClient(server.url);
      const address = new URL(server.url);
      try {
        const created = await runProcess([], {
          through: [path.join(root, 'deploy', 'create-login.sh')],
          env: {
            PATH: `${programs}:${process.env['PATH']}`,
            PGHOST: address.hostname,
            PGPORT: address.port,
            SERVICE_PASSWORD: "it's $(sesame)",
          },
        });
        assert.deepEqual([created.code, created.err], [0, '']);
        const [role] = await admin`
        select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
          rolpassword is not null as "hasPassword"
        from pg_authid where rolname = 'retention'`;
        assert.deepEqual(role, {
          rolsuper: false,
          rolcreatedb: false,
          rolcreaterole: false,
          rolreplication: false,
          rolbypassrls: false,
          hasPassword: true,
        });

        address.username = 'retention';
        address.pathname = '/retention';
        const env = { DATABASE_URL: address.href };
        const shop = ['--id', '1', '--name', 'x', '--currency', 'USD'];
        assert.equal((await run(['shops', 'create', ...shop], { env })).code, 0);
        assert.equal((await run(['doctor'], { env })).code, 0);
        // The database is closed to others; docs/deploy.md has this for a login that only reads.
        await admin`create role retention_reader login password 'reads'`;
        const reader = new URL(address);
        [reader.username, reader.password] = ['retention_reader', 'reads'];
        const both = { ...env, DATABASE_SERVE_URL: reader.href };
        const made = await run(['migrate', '--roles'], { env: both });
        assert.deepEqual([made.code, made.err], [0, '']);
        const login = openClient(address.href);
        await assert.rejects(login`copy (select 1) to program 'true'`, { code: '42501' });
        await assert.rejects(login`create role other`, { code: '42501' });
        await login.end();
      } finally {
        await admin.end();
        await server.destroy();
      }
    },
  );

  test('run commands that exist', async () => {
    const [command = ''] = all(serviceOf('sync'), /^ {4}command: \[(.+)\]$/gm);
    assert.equal((await run([...command.split(', '), '--help'])).code, 0);
  });

  test('restart automatically; all but the proxy are published on loopback only', () => {
    for (const name of ['database', 'limits', 'service', 'sync', 'proxy']) {
      assert.match(serviceOf(name), /^ {4}restart: unless-stopped$/m);
    }
    const published = all(compose, /^ {4}ports:\n((?: {6}.*\n)+)/gm);
    assert.deepEqual(published, [
      '      - 127.0.0.1:8787:8787\n',
      '      - 80:80\n      - 443:443\n',
    ]);
  });
});

test('Docker and systemd give the service enough time to stop', () => {
  const [grace = ''] = all(serviceOf('service'), /^ {4}stop_grace_period: (\d+)s$/gm);
  const [timeout = ''] = all(unit, /^TimeoutStopSec=(\d+)$/gm);
  const needed = parseConfig({}).stopSeconds;
  for (const seconds of [grace, timeout]) assert.ok(Number(seconds) > needed, seconds);
});

describe('the systemd unit', () => {
  test('sets only known variables', () => {
    const set = all(unit, /^Environment=(\w+)=/gm).filter((name) => name !== 'TMPDIR');
    assert.ok(set.length > 0);
    assert.deepEqual(
      set.filter((name) => !known.has(name)),
      [],
    );
  });

  test('starts an existing program, and allows just-in-time compilation', async () => {
    const [command = ''] = all(unit, /^ExecStart=\/opt\/retention\/node_modules\/\.bin\/(.+)$/gm);
    const [name = '', ...args] = command.split(' ');
    accessSync(path.join(root, bin[name]), constants.X_OK);
    assert.equal((await run([...args, '--help'])).code, 0);
    assert.doesNotMatch(unit, /^MemoryDenyWriteExecute=(?:yes|true|on|1)/m);
  });
});
