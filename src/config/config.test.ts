import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';
import { defaultUploads } from './settings.ts';
import { UsageError } from '../errors.ts';
import type { PlatformSettings } from './platform-config.ts';

const shopify: PlatformSettings = {
  name: 'shopify',
  credentialsFile: 'SHOPIFY_CREDENTIALS_FILE',
  webhookSecrets: {
    variable: 'SHOPIFY_CLIENT_SECRET',
    expected:
      "the app's client secret, at least 16 characters without spaces; during rotation, the new and the old one, separated by a comma",
  },
  clientId: 'SHOPIFY_CLIENT_ID',
  baseUrl: 'SHOPIFY_BASE_URL',
  pointsShare: 'SHOPIFY_POINTS_SHARE',
};
const parse = (env: Readonly<Record<string, string | undefined>>) => parseConfig(env, [shopify]);

const noApp = { clientId: undefined, baseUrl: undefined, pointsShare: 0.5 };

const defaults = {
  databaseUrl: undefined,
  databaseReadUrls: [],
  databaseServeUrl: undefined,
  dataDir: '.retention',
  redisUrl: undefined,
  host: '127.0.0.1',
  port: 8787,
  metricsPort: undefined,
  metricsHost: '127.0.0.1',
  baseUrl: undefined,
  securityContact: undefined,
  trustedProxies: [],
  sourceNetworks: [],
  logLevel: 'info',
  requiresSecondFactor: false,
  auditLog: 'off',
  stopSeconds: 20,
  credentialsKeys: [],
  sso: undefined,
  localPasswords: true,
  syncs: true,
  uploads: defaultUploads,
  mail: undefined,
  secretScanningKeysUrl: undefined,
  platforms: { shopify: { credentialsFile: undefined, webhookSecrets: [], ...noApp } },
  setsHeapLimit: false,
  tracing: undefined,
};

const names = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'DATABASE_SERVE_URL',
  'RETENTION_DATA_DIR',
  'REDIS_URL',
  'HOST',
  'PORT',
  'METRICS_PORT',
  'METRICS_HOST',
  'BASE_URL',
  'TRUSTED_PROXIES',
  'SOURCE_NETWORKS',
  'LOG_LEVEL',
  'STOP_SECONDS',
  'SHOPIFY_CREDENTIALS_FILE',
  'SHOPIFY_CLIENT_SECRET',
  'SHOPIFY_CLIENT_ID',
  'SHOPIFY_BASE_URL',
  'SHOPIFY_POINTS_SHARE',
  'CREDENTIALS_KEY',
  'SYNC',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
];

/** The error message for an invalid environment. */
function problemsOf(env: Record<string, string>): string {
  let message = '';
  assert.throws(
    () => parse(env),
    (error) => {
      assert.ok(error instanceof UsageError);
      message = error.message;
      return true;
    },
  );
  return message;
}

test('uses the defaults for unset and blank variables', () => {
  assert.deepEqual({ ...parse({}) }, defaults);
  for (const nothing of ['', ' ', '\t\n']) {
    const env = Object.fromEntries(names.map((name) => [name, nothing]));
    assert.deepEqual({ ...parse(env) }, defaults);
  }
});

test('reads and trims every variable', () => {
  const env = {
    DATABASE_URL: ' postgres://user:secret@db.example:5433/retention?sslmode=require ',
    SECURITY_CONTACT: ' mailto:security@retention.example ',
    DATABASE_READ_URL: 'postgres://user:secret@one.example,[::1]:5434/retention?sslmode=require',
    DATABASE_SERVE_URL: 'postgres://reader:secret@db.example:5433/retention',
    RETENTION_DATA_DIR: '/var/lib/retention data',
    REDIS_URL: 'rediss://:secret@cache.example:6380',
    HOST: '::',
    PORT: '0',
    METRICS_PORT: '9464',
    METRICS_HOST: ' 10.0.0.7 ',
    BASE_URL: 'https://Retention.example/api//',
    TRUSTED_PROXIES: ' 127.0.0.1, 10.0.0.0/8,2001:db8::/32 ',
    SOURCE_NETWORKS: ' 10.1.0.0/16',
    LOG_LEVEL: 'debug',
    AUDIT_LOG: ' stdout',
    REQUIRE_SECOND_FACTOR: ' all',
    STOP_SECONDS: '45',
    SHOPIFY_CREDENTIALS_FILE: ' /etc/retention/shopify.json ',
    SHOPIFY_CLIENT_SECRET: ' hush_of_tomorrow_1 , hush_of_yesterday ',
    SHOPIFY_CLIENT_ID: ' 0123456789abcdef ',
    SHOPIFY_BASE_URL: 'https://proxy.example/{domain}',
    SHOPIFY_POINTS_SHARE: ' 0.25 ',
    CREDENTIALS_KEY: `${'A'.repeat(43)}=, ${'B'.repeat(43)}=`,
    SECRET_SCANNING_KEYS_URL: ' https://proxy.example/keys ',
    SYNC: 'off',
    OIDC_ISSUER: ' https://login.example/realms/lumen ',
    OIDC_CLIENT_ID: 'retention',
    OIDC_CLIENT_SECRET: ' hush ',
    LOCAL_PASSWORDS: 'off',
    NODE_OPTIONS: '--trace-warnings --max-old-space-size=500',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
    OTEL_TRACES_SAMPLER: ' parentbased_traceidratio ',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTHER: 'ignored',
  };
  assert.deepEqual(
    { ...parse(env) },
    {
      databaseUrl: 'postgres://user:secret@db.example:5433/retention?sslmode=require',
      databaseReadUrls: [
        'postgres://user:secret@one.example/retention?sslmode=require',
        'postgres://user:secret@[::1]:5434/retention?sslmode=require',
      ],
      databaseServeUrl: 'postgres://reader:secret@db.example:5433/retention',
      dataDir: '/var/lib/retention data',
      redisUrl: 'rediss://:secret@cache.example:6380',
      host: '::',
      port: 0,
      metricsPort: 9464,
      metricsHost: '10.0.0.7',
      baseUrl: 'https://retention.example/api',
      securityContact: 'mailto:security@retention.example',
      trustedProxies: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
      sourceNetworks: ['10.1.0.0/16'],
      logLevel: 'debug',
      auditLog: 'stdout',
      requiresSecondFactor: true,
      stopSeconds: 45,
      credentialsKeys: [Buffer.alloc(32), Buffer.from('B'.repeat(43), 'base64')],
      syncs: false,
      sso: {
        issuer: 'https://login.example/realms/lumen',
        clientId: 'retention',
        clientSecret: 'hush',
        name: 'login.example',
      },
      localPasswords: false,
      uploads: defaultUploads,
      mail: undefined,
      secretScanningKeysUrl: 'https://proxy.example/keys',
      platforms: {
        shopify: {
          credentialsFile: '/etc/retention/shopify.json',
          webhookSecrets: ['hush_of_tomorrow_1', 'hush_of_yesterday'],
          clientId: '0123456789abcdef',
          baseUrl: 'https://proxy.example/{domain}',
          pointsShare: 0.25,
        },
      },
      setsHeapLimit: true,
      tracing: { sampler: 'parentbased_traceidratio', samplerArgument: '0.25' },
    },
  );
});

test('the configuration is frozen', () => {
  assert.ok(Object.isFrozen(parse({})));
});

const valid: Record<string, string[]> = {
  DATABASE_URL: ['postgres://h/d', 'postgresql://u@h', 'postgres://u:p%40@[::1]:5432/d'],
  REDIS_URL: ['redis://h', 'rediss://u:p@h:6380/1', 'redis://[::1]:6379'],
  METRICS_PORT: ['0', '9464'],
  PORT: ['0', '1', '65535', '08080'],
  BASE_URL: ['http://localhost', 'https://a.example:8443/x'],
  LOG_LEVEL: ['debug', 'info', 'warn', 'error', 'silent'],
  STOP_SECONDS: ['1', '20', '3600'],
  SHOPIFY_POINTS_SHARE: ['0.2', '0.325', '1'],
};
for (const [name, texts] of Object.entries(valid)) {
  test(`${name} accepts ${texts.join(' ')}`, () => {
    for (const text of texts) assert.doesNotThrow(() => parse({ [name]: text }));
  });
}

const invalid: [name: string, expected: string, texts: string[]][] = [
  [
    'DATABASE_URL',
    'an address such as postgres://user@host:5432/database',
    [
      'mysql://u:sesame@h/d',
      'u:sesame@h',
      'postgres:sesame',
      'postgres://u:ses#ame@h/d',
      'postgres://u@h/d#sesame',
      'postgres://u@h/d,postgres://u:sesame@g/d',
      '/sesame',
    ],
  ],
  [
    'REDIS_URL',
    'an address such as redis://host:6379 or rediss://…',
    [
      'localhost:6379',
      'http://u:sesame@h',
      'redis:sesame',
      'redis://',
      'redis://h/sesame',
      'redis://:ses%ame@h',
    ],
  ],
  ['METRICS_PORT', 'a whole number from 0 to 65535', ['65536', '-1', 'on']],
  [
    'PORT',
    'a whole number from 0 to 65535',
    ['65536', '-1', '80.0', '1e3', '0x50', '8 0', 'http', '٣', '100000'],
  ],
  [
    'BASE_URL',
    'an http:// or https:// address without a query',
    ['localhost:8787', 'ftp://h', '//h', 'http://', 'http://h?x=1', 'http://h#x'],
  ],
  [
    'SHOPIFY_CLIENT_SECRET',
    "the app's client secret, at least 16 characters without spaces; during rotation, the new and the old one, separated by a comma",
    ['sesame', 'open sesame, please!', ',', 'sesame_sesame_sesame,', 'sesame_sesame_sesame,sesame'],
  ],
  [
    'CREDENTIALS_KEY',
    '32 random bytes in base64, as "openssl rand -base64 32" prints them; during rotation, the new and the old one, separated by a comma',
    ['sesame', 'A'.repeat(44), 'A'.repeat(42), `${'A'.repeat(43)}=,sesame`, ','],
  ],
  ['SYNC', 'on or off', ['yes', 'OFF', '0']],
  ['SHOPIFY_POINTS_SHARE', 'a number from 0.2 to 1', ['0', '0.1', '1.5', '50%', 'half', '-0.5']],
  ['LOG_LEVEL', 'one of debug, info, warn, error, silent', ['trace', 'INFO', 'fatal', '30']],
  [
    'STOP_SECONDS',
    'a whole number of seconds from 1 to 3600',
    ['0', '-1', '3601', '1.5', '20s', 'never'],
  ],
];
for (const [name, expected, texts] of invalid) {
  test(`${name} rejects ${texts.length} invalid values and names what is expected`, () => {
    for (const text of texts) {
      assert.equal(
        problemsOf({ [name]: text }),
        `The configuration is invalid:\n  ${name} must be ${expected}.`,
        text,
      );
    }
  });
}

test('reports all problems at once, without secrets', () => {
  const message = problemsOf({
    DATABASE_URL: 'mysql://user:sesame@db.example/retention',
    PORT: 'abc',
    BASE_URL: 'ftp://user:sesame@files.example',
    LOG_LEVEL: 'x',
  });
  assert.deepEqual(message.split('\n'), [
    'The configuration is invalid:',
    '  DATABASE_URL must be an address such as postgres://user@host:5432/database.',
    '  PORT must be a whole number from 0 to 65535.',
    '  BASE_URL must be an http:// or https:// address without a query.',
    '  LOG_LEVEL must be one of debug, info, warn, error, silent.',
  ]);
});

test('SECURITY_CONTACT is a mailbox or a page', () => {
  const parsed = (text: string) => parse({ SECURITY_CONTACT: text }).securityContact;
  assert.equal(parsed('https://shop.example/security'), 'https://shop.example/security');
  for (const wrong of ['ana@shop.example', 'mailto:ana', 'http://shop.example', 'tel:+1']) {
    assert.equal(
      problemsOf({ SECURITY_CONTACT: wrong }),
      'The configuration is invalid:\n  SECURITY_CONTACT must be an address such as mailto:security@example.com or https://example.com/security.',
    );
  }
});

test('TRUSTED_PROXIES is a number of hops or a list; 0 trusts no proxy', () => {
  const parsed = (text: string) => parse({ TRUSTED_PROXIES: text }).trustedProxies;
  assert.equal(parsed('0'), 0);
  assert.equal(parsed('2'), 2);
  assert.deepEqual(parsed('::1'), ['::1']);
  assert.deepEqual(parsed('::ffff:10.0.0.0/104, 0.0.0.0/1'), ['::ffff:10.0.0.0/104', '0.0.0.0/1']);
});

test('TRUSTED_PROXIES names the invalid entry', () => {
  const networks = '10.0.0.0/33 10.0.0.0/0 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/255.0.0.0 ::/129 ::/0';
  const words = '10.0.0 proxy.example loopback true * -1 1.5 100';
  for (const wrong of `${networks} ${words} `.split(' ')) {
    assert.equal(
      problemsOf({ TRUSTED_PROXIES: `127.0.0.1, ${wrong}` }),
      `The configuration is invalid:\n  TRUSTED_PROXIES must be a number of proxies, or a comma-separated list of addresses and networks such as 10.0.0.0/8; "${wrong}" is neither.`,
    );
  }
  assert.match(problemsOf({ TRUSTED_PROXIES: '1, 10.0.0.0/8' }), /; "1" is neither\.$/);
});

test('metrics need a separate port', () => {
  assert.match(
    problemsOf({ PORT: '9464', METRICS_PORT: '9464' }),
    /METRICS_PORT must not be the same as PORT\./,
  );
  assert.doesNotThrow(() => parse({ PORT: '0', METRICS_PORT: '0' }));
});

test('DATABASE_READ_URL needs DATABASE_URL and a valid address for each host', () => {
  const standbys = 'postgres://user:sesame@one,two/d';
  assert.match(
    problemsOf({ DATABASE_READ_URL: standbys }),
    /DATABASE_READ_URL names standbys of DATABASE_URL, which is not set\./,
  );
  const wrong = ['one,two', 'postgres://,two/d', 'postgres://one,/d', 'mysql://u:sesame@h/d'];
  for (const DATABASE_READ_URL of wrong) {
    const message = problemsOf({ DATABASE_URL: 'postgres://h/d', DATABASE_READ_URL });
    assert.match(message, /DATABASE_READ_URL must be an address such as/);
    assert.doesNotMatch(message, /sesame/);
  }
});

test('reads where mail is sent, and by whom', () => {
  assert.equal(parseConfig({}).mail, undefined);
  const url = 'smtp://user:p%40ss@mail.example.com:587';
  assert.deepEqual(parseConfig({ SMTP_URL: url, SMTP_FROM: 'us@example.com' }).mail, {
    url,
    from: 'us@example.com',
  });
});

test('refuses what is no mail server or address, without quoting the password', () => {
  for (const SMTP_URL of [
    'mail.example.com',
    'http://a:secret@b',
    'smtp://',
    'smtp://a:secret@b/?x=1',
  ]) {
    assert.throws(
      () => parseConfig({ SMTP_URL, SMTP_FROM: 'Ana <ana@example.com>' }),
      (error: Error) => {
        assert.match(error.message, /SMTP_URL must be an address such as smtp:\/\//);
        assert.match(error.message, /SMTP_FROM must be an address such as ana@example\.com/);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  }
});

test('where uploaded files are kept, and how large they may be, can be set', () => {
  const env = { UPLOAD_DIR: ' /var/lib/retention/uploads ', UPLOAD_MAX_MEGABYTES: '20' };
  const { uploads } = parseConfig(env);
  assert.deepEqual(uploads, { folder: '/var/lib/retention/uploads', maxBytes: 20_971_520 });
});

test('a size that is no number of megabytes is refused', () => {
  for (const value of ['0', '-1', '1000001', '1.5', '1g']) {
    assert.throws(() => parseConfig({ UPLOAD_MAX_MEGABYTES: value }), {
      message: /UPLOAD_MAX_MEGABYTES must be a whole number of megabytes from 1 to 1000000\./,
    });
  }
});
