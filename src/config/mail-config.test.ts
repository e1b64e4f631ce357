import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from './config.ts';

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
