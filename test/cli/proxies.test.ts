import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launch, migratedFolder, run } from './process.ts';

const warning =
  'BASE_URL is https, so there is a proxy in front, and all clients count as one address. Set TRUSTED_PROXIES to tell them apart.';
const settings: [env: Record<string, string>, isWarned: boolean][] = [
  [{ BASE_URL: 'https://retention.example' }, true],
  [{ BASE_URL: 'https://retention.example', TRUSTED_PROXIES: '10.0.0.0/8' }, false],
  [{ BASE_URL: 'https://retention.example', TRUSTED_PROXIES: '0' }, false],
  [{ BASE_URL: 'http://retention.example' }, false],
  [{}, false],
];

for (const [env, isWarned] of settings) {
  test(`doctor ${isWarned ? 'warns' : 'does not warn'} about missing TRUSTED_PROXIES: ${JSON.stringify(env)}`, async () => {
    const down = { DATABASE_URL: 'postgres://user@127.0.0.1:1/x' };
    const { out } = await run(['doctor', '--json'], { env: { ...env, ...down } });
    const { findings, configuration } = JSON.parse(out);
    const found = findings.filter(({ check }: { check: string }) => check === 'proxies');
    assert.deepEqual(
      found,
      isWarned ? [{ check: 'proxies', detail: warning, ok: true, warning: true }] : [],
    );
    const shown = { '10.0.0.0/8': ['10.0.0.0/8'], '0': 0 }[env['TRUSTED_PROXIES'] ?? ''] ?? [];
    assert.deepEqual(configuration.trustedProxies, shown);
  });
}

test('serve warns about missing TRUSTED_PROXIES in its log', async () => {
  const place = { RETENTION_DATA_DIR: migratedFolder(), PORT: '0' };
  const env = { ...place, BASE_URL: 'https://retention.example', LOG_LEVEL: 'warn' };
  const serve = launch(['serve'], { env });
  const [line = ''] = await serve.logged(/^.*\n/);
  assert.equal(JSON.parse(line).msg, warning);
  serve.child.kill('SIGKILL');
  await serve.ended;
});
