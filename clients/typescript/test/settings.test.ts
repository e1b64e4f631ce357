import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Retention, customerIdOf } from '../src/index.ts';
import { json, startFakeService } from './fake-service.ts';

test('refuses hooks that return a promise', async () => {
  await using service = await startFakeService(json({ plans: [] }));
  const fail = async () => {
    throw new Error('failed');
  };
  for (const hooks of [{ onRequest: fail }, { onResponse: fail }]) {
    await assert.rejects(service.client({ hooks }).listPlans(), /Hooks must be synchronous/);
  }
});

test('refuses options and ids that cannot work, and never quotes the key', () => {
  const options = { baseUrl: 'https://retention.example', key: 'rtn_x' };
  for (const [wrong, message] of [
    [{ baseUrl: 'retention.example' }, /baseUrl must be/],
    [{ baseUrl: 'https://retention.example/?a=1' }, /baseUrl must be/],
    [{ key: '' }, /Is its environment variable set/],
    [{ key: undefined }, /Is its environment variable set/],
    [{ timeoutMs: 0 }, /timeoutMs/],
    [{ timeoutMs: Infinity }, /timeoutMs/],
    [{ deadlineMs: 0 }, /deadlineMs/],
    [{ deadlineMs: 2 ** 31 }, /deadlineMs/],
    [{ maxRetries: -1 }, /maxRetries/],
    [{ maxRetries: 1.5 }, /maxRetries/],
    [{ cache: { maxCustomers: 0 } }, /maxCustomers/],
    [{ cache: { maxCustomers: 1.5 } }, /maxCustomers/],
    [{ baseUrl: undefined as unknown as string }, /baseUrl must be/],
    [{ baseUrl: 'https://retention.example/api/external/v1/' }, /Leave out \/api\/external\/v1/],
    [{ cache: { graceSeconds: -1 } }, /graceSeconds/],
    [{ cache: { maxCustomers: Number.NaN } }, /maxCustomers/],
    [{ baseUrl: 'https://retention.example/#a' }, /baseUrl must be/],
  ] as const) {
    assert.throws(() => new Retention({ ...options, ...wrong }), message);
  }
  for (const secret of [{ key: 'secret\n' }, { baseUrl: 'http://user:secret@retention.example' }]) {
    assert.throws(
      () => new Retention({ ...options, ...secret }),
      (error: Error) => error instanceof TypeError && !error.message.includes('secret'),
    );
  }
});

test('asks for nothing with an id that is not a whole number', async () => {
  await using service = await startFakeService(json({}));
  const retention = service.client();
  for (const id of [0, 1.5, 2 ** 53, Number.NaN, '5' as unknown as number]) {
    await assert.rejects(retention.entitled(id), TypeError);
    await assert.rejects(retention.getEntitlements(id), /customerIdOf|Number\('5'\)/);
    await assert.rejects(retention.getSubscription(id), TypeError);
  }
  assert.equal(service.requests.length, 0);
  await assert.rejects(retention.entitled('501' as unknown as number), {
    message:
      'customerId must be a whole number from 1 to 2^53 - 1; it is the text "501": pass Number(\'501\').',
  });
  await assert.rejects(retention.entitled('cus_5' as unknown as number), {
    message:
      'customerId must be a whole number from 1 to 2^53 - 1; it is the text "cus_5": for a customer\'s text at the source, pass customerIdOf(text).',
  });
});

test('refuses to run in a browser, its workers, or an app', (t) => {
  const place = globalThis as Record<string, unknown>;
  const { process, navigator } = place;
  const set = (name: string, value: unknown) =>
    Object.defineProperty(place, name, { value, configurable: true, writable: true });
  t.after(() => {
    set('process', process);
    set('navigator', navigator);
    delete place['document'];
    delete place['importScripts'];
  });
  const options = { baseUrl: 'https://retention.example', key: 'rtn_x' };
  set('document', {});
  // As in the tests of a page's code.
  assert.ok(new Retention(options));
  set('process', undefined);
  assert.throws(() => new Retention(options), /must not run in a browser/);
  delete place['document'];
  assert.ok(new Retention(options), 'an edge runtime');
  set('importScripts', () => {});
  assert.throws(() => new Retention(options), /must not run in a browser/);
  delete place['importScripts'];
  set('navigator', { product: 'ReactNative' });
  assert.throws(() => new Retention(options), /must not run in a browser/);
});

test('knows customers by the text of their source, by the documented formula', () => {
  assert.equal(customerIdOf('cus_NffrFeUfNV2Hib'), 4_721_611_223_403_156);
  assert.equal(customerIdOf('gid://shopify/Customer/6940095564'), 6_940_095_564);
  for (const wrong of [undefined, null, 5, '', 'cus_\ud800', {}]) {
    assert.throws(() => customerIdOf(wrong as string), /customerIdOf needs a text/);
  }
  assert.ok(customerIdOf('cus_😀') > 2 ** 52);
});
