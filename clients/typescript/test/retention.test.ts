import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AuthenticationError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  type RequestInfo,
  type ResponseInfo,
  Retention,
  RetentionError,
  TimeoutError,
  UnavailableError,
  customerIdOf,
} from '../src/index.ts';
import { entry, json, startFakeService, troubles } from './fake-service.ts';

const refusal = (message: string) => ({ success: false, message });

test('asks each operation at its path, with the key', async () => {
  await using service = await startFakeService(
    json({ subscriptions: [entry] }),
    json({ subscription: { subscriptionId: 5 } }),
    json({ summary: { mrr: 10 } }),
    json({ plans: [] }),
  );
  const retention = service.client({ baseUrl: `${service.baseUrl}/` });
  assert.deepEqual(await retention.getEntitlements(501), [entry]);
  assert.equal((await retention.getSubscription(5)).subscriptionId, 5);
  assert.equal((await retention.getMetricsSummary()).mrr, 10);
  assert.deepEqual(await retention.listPlans(), []);
  assert.deepEqual(
    service.requests.map(({ url, headers }) => [url, headers.authorization]),
    ['/entitlements?customerId=501', '/subscriptions/5', '/metrics/summary', '/plans'].map(
      (path) => [`/api/external/v1${path}`, 'Bearer rtn_test'],
    ),
  );
});

test('walks the entries of all pages, and pages that a walk can be continued from', async () => {
  const pages = [
    json({ subscriptions: [{ subscriptionId: 3 }, { subscriptionId: 2 }], nextCursor: 'a+b' }),
    json({ subscriptions: [{ subscriptionId: 1 }], nextCursor: null }),
  ];
  await using service = await startFakeService(...pages);
  const ids: number[] = [];
  for await (const { subscriptionId } of service.client().listSubscriptions({ status: 'active' })) {
    ids.push(subscriptionId);
  }
  assert.deepEqual(ids, [3, 2, 1]);
  assert.deepEqual(
    service.requests.map(({ url }) => url.replace(/^.*\?/, '')),
    ['limit=100&status=active', 'limit=100&status=active&cursor=a%2Bb'],
  );
  await using sessions = await startFakeService(
    json({ cancellations: [{ sessionId: 9 }], nextCursor: null }),
  );
  const listing = sessions.client().listCancellations({ outcome: 'saved', limit: 5, cursor: 'c' });
  for await (const { entries, nextCursor } of listing.pages()) {
    assert.deepEqual([entries.length, nextCursor], [1, null]);
  }
  assert.match(sessions.requests[0]?.url ?? '', /\?limit=5&outcome=saved&cursor=c$/);
});

test('stops reading pages when the loop ends', async () => {
  await using service = await startFakeService(
    json({ subscriptions: [{ subscriptionId: 3 }], nextCursor: 'next' }),
  );
  for await (const _ of service.client().listSubscriptions()) break;
  assert.equal(service.requests.length, 1);
});

test('throws a typed error with status, request id and what the service said', async () => {
  for (const [status, Kind] of [
    [400, InvalidRequestError],
    [401, AuthenticationError],
    [403, PermissionError],
    [404, NotFoundError],
    [405, RetentionError],
  ] as const) {
    await using service = await startFakeService(
      json(refusal(`Refused with ${status}`), status, { 'x-request-id': 'req_1' }),
    );
    await assert.rejects(service.client().getSubscription(1), (error) => {
      assert.ok(error instanceof Kind);
      assert.equal(error.name, Kind === RetentionError ? 'RetentionError' : Kind.name);
      assert.equal(error.message, `Refused with ${status}`);
      assert.deepEqual([error.status, error.requestId], [status, 'req_1']);
      return true;
    });
    assert.equal(service.requests.length, 1, 'a refusal is not asked again');
  }
});

for (const [trouble, answer] of Object.entries(troubles)) {
  test(`tries again if the service ${trouble}, and says so if it does not end`, async () => {
    const isSilence = ['never answers', 'stops in the middle'].includes(trouble);
    const options = isSilence ? { timeoutMs: 500 } : {};
    await using service = await startFakeService(answer, json({ plans: [{ planId: 12 }] }));
    assert.equal((await service.client(options).listPlans()).length, 1);
    await using lasting = await startFakeService(answer);
    const error = await lasting
      .client({ ...options, maxRetries: 1 })
      .listPlans()
      .catch((each) => each);
    assert.ok(error instanceof UnavailableError, String(error));
    assert.equal(error instanceof TimeoutError, isSilence);
    assert.equal(lasting.requests.length, 2);
  });
}

test('waits as long as Retry-After says, and throws if that is too long', async () => {
  await using service = await startFakeService(
    json(refusal('Slow down'), 429, { 'retry-after': '1' }),
    json({ plans: [] }),
  );
  const responses: ResponseInfo[] = [];
  const retention = service.client({ hooks: { onResponse: (each) => void responses.push(each) } });
  await retention.listPlans();
  const [refused, answered] = responses;
  assert.ok((refused?.retryInMs ?? 0) >= 1000);
  assert.ok(refused?.error instanceof RateLimitError);
  assert.equal(refused.error.retryAfterSeconds, 1);
  assert.deepEqual([answered?.request.attempt, answered?.status], [2, 200]);
  assert.equal(answered?.error, undefined);
  await using long = await startFakeService(
    json(refusal('Slow down'), 429, { 'retry-after': '61' }),
  );
  await assert.rejects(long.client().listPlans(), { retryAfterSeconds: 61, status: 429 });
  assert.equal(long.requests.length, 1);
});

test('ends at once when its signal is aborted, also while it waits', async () => {
  await using silent = await startFakeService(troubles['never answers'] ?? json({}));
  await assert.rejects(silent.client().listPlans({ signal: AbortSignal.timeout(20) }), {
    name: 'TimeoutError',
  });
  await assert.rejects(
    silent.client().listPlans({ signal: AbortSignal.abort(new Error('not now')) }),
    /not now/,
  );
  await using busy = await startFakeService(json(refusal('Busy'), 503, { 'retry-after': '30' }));
  const stopping = new AbortController();
  const call = busy.client({ hooks: { onResponse: () => stopping.abort() } });
  await assert.rejects(call.listPlans({ signal: stopping.signal }), { name: 'AbortError' });
});

test('lets a hook add headers, such as a trace parent', async () => {
  await using service = await startFakeService(json({ plans: [] }));
  const hooks = {
    onRequest: ({ headers, operation }: { headers: Headers; operation: string }) =>
      headers.set('traceparent', `00-${operation}`),
  };
  await service.client({ hooks }).listPlans();
  assert.equal(service.requests[0]?.headers['traceparent'], '00-listPlans');
});

test('gives both hooks the same object, so that a span can be ended', async () => {
  await using service = await startFakeService(json(refusal('Busy'), 500), json({ plans: [] }));
  const begun: RequestInfo[] = [];
  const ended: RequestInfo[] = [];
  const hooks = {
    onRequest: (request: RequestInfo) => void begun.push(request),
    onResponse: ({ request }: ResponseInfo) => void ended.push(request),
  };
  await service.client({ hooks }).listPlans();
  assert.equal(begun.length, 2);
  assert.ok(begun.every((request, index) => request === ended[index]));
});

test('does not send the key elsewhere when it is redirected, and says what to do', async () => {
  await using other = await startFakeService(json({ plans: [] }));
  await using service = await startFakeService((_request, response) => {
    response.writeHead(302, { location: `${other.baseUrl}/` }).end();
  });
  await assert.rejects(service.client().listPlans(), {
    name: 'RetentionError',
    message: /Set baseUrl to that one/,
  });
  assert.deepEqual([service.requests.length, other.requests.length], [1, 0]);
});

test('ends the waiting for an entitlement with its signal, not the request of others', async () => {
  let answer = () => {};
  await using service = await startFakeService((_request, response) => {
    answer = () => void response.end(JSON.stringify({ subscriptions: [entry] }));
  });
  const retention = service.client();
  const stopping = new AbortController();
  const stopped = retention.entitled(501, { signal: stopping.signal });
  const other = retention.entitled(501);
  stopping.abort(new Error('gone'));
  await assert.rejects(stopped, /gone/);
  while (service.requests.length === 0) await new Promise(setImmediate);
  answer();
  assert.equal(await other, true);
  assert.equal(service.requests.length, 1);
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
    [{ maxRetries: -1 }, /maxRetries/],
    [{ cache: { graceSeconds: -1 } }, /graceSeconds/],
    [{ cache: { maxCustomers: Number.NaN } }, /maxCustomers/],
    [{ baseUrl: 'https://retention.example/#a' }, /baseUrl must be/],
  ] as const) {
    assert.throws(() => new Retention({ ...options, ...wrong }), message);
  }
  assert.throws(
    () => new Retention({ ...options, key: 'secret\n' }),
    (error: Error) => !error.message.includes('secret'),
  );
});

test('asks for nothing with an id that is not a whole number', async () => {
  await using service = await startFakeService(json({}));
  const retention = service.client();
  for (const id of [0, 1.5, 2 ** 53, Number.NaN, '5' as unknown as number]) {
    await assert.rejects(retention.getEntitlements(id), /customerIdOf/);
    await assert.rejects(retention.getSubscription(id), TypeError);
  }
  assert.equal(service.requests.length, 0);
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
});
