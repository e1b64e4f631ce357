import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newShopId, run, runningFolder } from './process.ts';

const env = { RETENTION_DATA_DIR: runningFolder(), LOG_LEVEL: 'silent' };

/** Runs a command that must succeed, with --json, and returns its one document. */
async function resultOf(...args: string[]): Promise<unknown> {
  const { code, out, err } = await run([...args, '--json'], { env });
  assert.equal(code, 0, err);
  assert.match(out, /^[^\n]+\n$/);
  return JSON.parse(out);
}

describe('commands that change something', () => {
  test('say what they did as JSON', async () => {
    const id = newShopId();
    const shop = ['--shop', id];
    const named = ['--name', 'Shop', '--currency', 'USD'];
    await resultOf('shops', 'create', '--id', id, ...named);
    assert.deepEqual(await resultOf('shops', 'set-tier', id, 'pro'), {
      id: Number(id),
      tier: 'pro',
    });
    const scopes = ['--name', 'k', '--scopes', 'read:plans'];
    const key = (await resultOf('keys', 'create', ...shop, ...scopes)) as { id: string };
    assert.deepEqual(await resultOf('keys', 'revoke', ...shop, key.id), {
      shop: Number(id),
      id: key.id,
      state: 'revoked',
    });
    const source = (await resultOf('ingest', 'create', ...shop, '--name', 's')) as {
      sourceId: string;
    };
    assert.deepEqual(await resultOf('ingest', 'revoke', ...shop, source.sourceId), {
      shop: Number(id),
      sourceId: source.sourceId,
      state: 'revoked',
    });
    assert.deepEqual(await resultOf('metrics', 'rebuild', ...shop), {
      shop: Number(id),
      state: 'recomputed',
    });
    assert.deepEqual(await resultOf('shopify', 'reinstalled', ...shop), {
      shop: Number(id),
      wasUninstalled: false,
    });
    assert.deepEqual(await resultOf('shopify', 'retry', ...shop), {
      shop: Number(id),
      retried: 0,
    });
    assert.deepEqual(await resultOf('migrate'), { applied: [] });
  });
});
