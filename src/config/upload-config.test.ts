import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';

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
