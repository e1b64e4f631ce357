import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../config/config.ts';
import { embeddedSettings, ownCommand } from './own-command.ts';

for (const [cwd, root, command] of [
  ['/home/ann/service', '/home/ann/service', 'bin/retention'],
  ['/home/ann', '/home/ann/service', '/home/ann/service/bin/retention'],
  ['/home/ann', "/home/ann/ann's service", `'/home/ann/ann'\\''s service/bin/retention'`],
  ['/srv/shop', '/srv/shop/node_modules/retention-data-service', 'npx retention'],
  ['/srv/shop/data', '/srv/shop/node_modules/retention-data-service', 'npx retention'],
  [
    '/srv/shopping',
    '/srv/shop/node_modules/retention-data-service',
    '/srv/shop/node_modules/retention-data-service/bin/retention',
  ],
] as const) {
  test(`is started in ${cwd} as ${command}`, () => assert.equal(ownCommand(cwd, root), command));
}

for (const [env, settings] of [
  [{}, ''],
  [{ RETENTION_DATA_DIR: '/srv/data' }, 'RETENTION_DATA_DIR=/srv/data '],
  [{ RETENTION_DATA_DIR: 'my data' }, "RETENTION_DATA_DIR='my data' "],
  [
    { DATABASE_URL: 'postgres://u:secret@h/d', RETENTION_DATA_DIR: 'data' },
    'DATABASE_URL= RETENTION_DATA_DIR=data ',
  ],
] as const) {
  test(`commands find the embedded database with "${settings}"`, () =>
    assert.equal(embeddedSettings(parseConfig(env)), settings));
}
