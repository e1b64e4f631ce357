import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { run } from './process.ts';

const options = { env: { LOG_LEVEL: 'silent' } };

const commands: [name: string, synopsis: string][] = [
  ['demo', '[--new-key]'],
  ['serve', '[--workers N]'],
  ['migrate', '[--roles] [--json]'],
  ['shops create', '--id N --name TEXT --currency CUR [--tier TIER] [--json]'],
  ['shops list', '[--servers env:NAME,…] [--json]'],
  ['shops copy', '--id N --to URL|env:NAME [--json]'],
  ['shops move', '--id N --to URL|env:NAME [--to-key env:NAME] [--json]'],
  ['shops set-tier', '[--json] ID TIER'],
  [
    'keys create',
    '--shop ID --name TEXT --scopes a,b [--expires-in DURATION] [--networks a,b] [--json]',
  ],
  ['keys list', '--shop ID [--json]'],
  ['keys revoke', '--shop ID [--json] KEY_ID'],
  ['keys revoked', '--since TIME [--shop ID] [--json]'],
  ['owners invite', '--shop ID --email ADDRESS [--role ROLE] [--json]'],
  ['owners reset', '--email ADDRESS [--json]'],
  ['owners list', '--shop ID [--json]'],
  ['owners set-role', '--shop ID --email ADDRESS --role ROLE [--json]'],
  ['owners remove', '--shop ID --email ADDRESS [--json]'],
  [
    'import',
    '--shop ID [--from SOURCE] [--mapping FILE] [--as-of TIME] [--complete] [--types TYPES] [--gone cancelled|deleted] [--allow-shrink] [--dry-run] [--refused FILE] [--take-over] [--json] FILE…',
  ],
  ['mapping suggest', '[--output FILE] [--as-of TIME] [--currency CUR] [--json] FILE'],
  ['demo-data', '--subscriptions N [--seed S] [--currency CUR] [--until TIME]'],
  ['doctor', '[--json]'],
];

test('help lists every command, the settings, and the exit statuses', async () => {
  const { code, out, err } = await run(['help'], options);
  assert.equal(code, 0);
  assert.equal(err, '');
  for (const [name] of commands) assert.match(out, new RegExp(`^  ${name}  +\\w`, 'm'));
  for (const name of ['DATABASE_URL', 'SMTP_FROM', 'SYNC', 'SHOPIFY_CLIENT_ID']) {
    assert.match(out, new RegExp(`^(?:[A-Z_]+, )*${name},(?: |$)`, 'm'));
  }
  assert.match(
    out,
    /Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but some records were refused\./,
  );
});

test('--version shows the version and commit of the service, the version of Node.js, and the platform', async () => {
  const { code, out, err } = await run(['--version'], options);
  assert.deepEqual([code, err], [0, '']);
  const platform = `${process.platform} ${process.arch}`;
  const [build, runtime] = out.split('\n');
  assert.match(build ?? '', /^retention 1\.0\.0 \(([0-9a-f]{40}|unknown)\)$/);
  assert.match(runtime ?? '', new RegExp(`^Node\\.js v26\\.\\d+\\.\\d+, ${platform}$`));
});

test('every command has help', { concurrency: 2 }, async (t) => {
  const checks = commands.map(([name, synopsis], index) =>
    t.test(name, async () => {
      // Half of them with --help, half with "help": both print the same.
      const words = name.split(' ');
      const args = index % 2 === 0 ? [...words, '--help'] : ['help', ...words];
      const { code, out, err } = await run(args, options);
      assert.equal(code, 0);
      assert.equal(err, '');
      assert.equal(out.split('\n')[0], `Usage: retention ${name} ${synopsis}`.trimEnd());
    }),
  );
  await Promise.all(checks);
});

test('every group of commands has help that lists them', { concurrency: 2 }, async (t) => {
  const listed = (text: string) =>
    [...text.matchAll(/^ {2}(\S+ \S+) {2,}/gm)].map(([, name = '']) => name);
  const { out: all } = await run(['help'], options);
  const groups = [...Map.groupBy(listed(all), (name) => name.split(' ')[0] as string)];
  assert.ok(groups.length > 5);
  const checks = groups.map(([group, members], index) =>
    t.test(group, async () => {
      const args = [
        [group, '--help'],
        ['help', group],
        [group, '-h'],
      ][index % 3] as string[];
      const { code, out, err } = await run(args, options);
      assert.deepEqual([code, err], [0, '']);
      assert.ok(out.startsWith(`Usage: retention ${group} COMMAND [OPTIONS]\n`));
      assert.deepEqual(listed(out), members);
    }),
  );
  await Promise.all(checks);
});

describe('wrong usage exits with 2, and stderr says what is right', { concurrency: 2 }, () => {
  const createKey = ['keys', 'create', '--shop', '1', '--name', 'x', '--scopes', 'read:plans'];
  const wrong: [args: string[], says: string][] = [
    [[], 'Usage: retention COMMAND [OPTIONS]'],
    [['list'], 'retention: Unknown command \'list\'.\n"retention help" lists all commands.\n'],
    [
      ['srve'],
      'Unknown command \'srve\'.\n(Did you mean serve?)\n"retention help" lists all commands.\n',
    ],
    [['shop', 'list'], "Unknown command 'shop'.\n(Did you mean shops?)\n"],
    [['help', 'improt'], "Unknown command 'improt'.\n(Did you mean import?)\n"],
    [['keys', 'crate', '--help'], "Unknown command 'crate'.\n(Did you mean create?)\n"],
    [['migrate', 'rtn_0123456789\x1b[2J'], 'but got 1: rtn_[redacted]\\u001b[2J.\n'],
    [['improt', '--help'], "Unknown command 'improt'.\n(Did you mean import?)\n"],
    [
      ['keys', 'crate', '--shop', '1'],
      'Unknown command \'crate\'.\n(Did you mean create?)\n"retention keys" needs one of: create, list, revoke, revoked.\n',
    ],
    [
      ['keys', 'list', '--shpo', '1'],
      "Unknown option '--shpo'.\n(Did you mean --shop?)\nUsage: retention keys list",
    ],
    ...['--json', '--currency', '-x'].map((next): [string[], string] => [
      ['shops', 'create', '--id', '1', '--name', next],
      '--name needs a value. One that begins with a dash is given as --name=VALUE.',
    ]),
    [['import', '--shop', '1', '--refused', '--dry-run', 'a.ndjson'], '--refused needs a value.'],
    // As a variable of a script that is not set.
    [['import', '--shop', '1', '--refused=', 'a.ndjson'], '--refused needs a value.'],
    [['shops', 'export', '--id', '1', '--output', ' '], '--output needs a value.'],
    [['import', '--shop', '1', '--dry-run=true', 'a.ndjson'], '--dry-run takes no value.'],
    [['keys', 'list', '--key=whsec_0123456789'], "Unknown option '--key'.\n"],
    [['keys'], 'Usage: retention keys COMMAND [OPTIONS]\n'],
    [['shops', 'delete'], '--id is missing.\nUsage: retention shops delete --id N'],
    [['shops'], 'Usage: retention shops COMMAND [OPTIONS]\n'],
    [
      ['shops', 'erase'],
      '"retention shops" needs one of: create, list, set-tier, key-policy, export, keep, copy, move, delete.',
    ],
    [['serve', '--port', '1'], "Unknown option '--port'.\nUsage: retention serve [--workers N]\n"],
    [['serve', '--workers', '0'], '--workers must be a whole number from 1 to 64, not "0".'],
    [['serve', '--workers', '2e1'], '--workers must be a whole number from 1 to 64, not "2e1".'],
    [['serve', '--workers', '2'], 'Several workers need DATABASE_URL'],
    [
      ['keys', 'list', '--shop', '2', '--shop', '60'],
      '--shop is given twice; give it once.\nUsage: retention keys list',
    ],
    [
      ['migrate', 'now'],
      "Too many arguments for 'migrate'. Expected 0 arguments but got 1: now.\nUsage: retention migrate [--roles] [--json]\n",
    ],
    [['migrate', '--roles'], '--roles creates the login of DATABASE_SERVE_URL, which is not set.'],
    [
      ['keys', 'create'],
      'retention: --shop, --name and --scopes are missing.\nUsage: retention keys create --shop',
    ],
    [['keys', 'create', '--name', 'x', '--scopes', ''], '--shop and --scopes are missing.\n'],
    [['shops', 'create', '--id', '1'], 'retention: --name and --currency are missing.\n'],
    [['import'], 'retention: --shop and FILE are missing.\nUsage: retention import'],
    [['keys', 'revoke', '--shop', '1'], 'KEY_ID is missing.\nUsage: retention keys revoke'],
    [['keys', 'list', '--shop'], "Option '--shop <ID>' argument missing.\nUsage: retention keys"],
    [['keys', 'list', '--shop', '9007199254740992'], '--shop must be an integer from 1 to'],
    [
      ['keys', 'create', '--shop', '1', '--name', 'x', '--scopes', 'read:all'],
      '--scopes takes one or more of read:entitlements, read:subscriptions, read:metrics, read:plans',
    ],
    [
      ['keys', 'create', '--shop', '1', '--name', ' ', '--scopes', 'read:plans'],
      '--name is missing',
    ],
    ...['', '30', '0d', '1.5h', '-1d', '30 d', '2w', '3651d', '87601h'].map(
      (duration): [string[], string] => [
        [...createKey, `--expires-in=${duration}`],
        `--expires-in takes a whole number of hours or days, such as 24h or 30d, and at most 3650d, not "${duration}".`,
      ],
    ),
    [['keys', 'revoked', '--shop', '1'], '--since is missing.'],
    [
      ['keys', 'revoked', '--snice', '1h'],
      "Unknown option '--snice'.\n(Did you mean --since?)\nUsage: retention keys revoked",
    ],
    [
      ['keys', 'revoked', '--since', '9999-01-01T00:00:00Z'],
      '--since must not be in the future, as 9999-01-01T00:00:00Z is.',
    ],
    ...[
      'yesterday',
      '5m',
      '2026-02-30',
      '2026-11-01T12:00',
      '2026-02-30T00:00:00Z',
      '0000-12-31',
      '0001-01-01T00:00:00+01:00',
    ].map((time): [string[], string] => [
      ['keys', 'revoked', '--since', time],
      `--since takes a date (its midnight in UTC), an ISO 8601 time with an offset or Z, such as 2026-11-21T16:00:00Z, how long ago in whole hours or days, such as 2h or 7d, or now, not "${time}".`,
    ]),
    [
      ['shops', 'set-tier', '1', 'gold'],
      'TIER must be one of free, starter, growth, pro, enterprise_plus, not "gold".',
    ],
    [
      ['shops', 'create', '--id', '1', '--name', 'x', '--currency', 'XYZ'],
      '--currency must be an ISO 4217 code such as USD, not "XYZ".',
    ],
    [['import', '--shop', '1'], 'FILE is missing.\nUsage: retention import'],
    [['import', '--shop', '1', '--from', 'x', 'f'], '--from must be shopify, not "x".'],
    [['demo-data'], '--subscriptions is missing.'],
    [
      ['demo-data', '--subscriptions', '-1'],
      '--subscriptions must be a whole number from 0 to 999999999, not "-1".',
    ],
    [['demo-data', '--subscriptions', '5', '--until', 'then'], '--until must be an ISO 8601 time.'],
  ];
  for (const [args, says] of wrong) {
    test(args.join(' ') || 'no arguments', async () => {
      const { code, out, err } = await run(args, options);
      assert.ok(err.includes(says), err);
      assert.doesNotMatch(err, /^ {4}at /m);
      assert.equal(out, '');
      assert.equal(code, 2);
    });
  }

  test('an invalid configuration, with all its problems', async () => {
    const env = { PORT: 'abc', LOG_LEVEL: 'x', DATABASE_URL: 'mysql://user:sesame@h/d' };
    const { code, out, err } = await run(['serve'], { env });
    assert.equal(code, 2);
    assert.equal(out, '');
    assert.equal(
      err,
      [
        'retention: The configuration is invalid:',
        '  DATABASE_URL must be an address such as postgres://user@host:5432/database.',
        '  PORT must be a whole number from 0 to 65535.',
        '  LOG_LEVEL must be one of debug, info, warn, error, silent.',
        '',
      ].join('\n'),
    );
  });
});
