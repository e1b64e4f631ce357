import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
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
} from '../src/index.ts';
import {
  detail,
  entry,
  json,
  plan,
  session,
  startFakeService,
  subscription,
  summary,
  troubles,
} from './fake-service.ts';

const refusal = (message: string) => ({ success: false, message });

test('asks each operation at its path, with the key', async () => {
  await using service = await startFakeService(
    json({ subscriptions: [entry] }),
    json({ subscription: detail }),
    json({ summary }),
    json({ plans: [] }),
  );
  const retention = service.client({ baseUrl: `${service.baseUrl}/` });
  assert.deepEqual(await retention.getEntitlements(501), [entry]);
  assert.deepEqual(await retention.getSubscription(5), detail);
  assert.deepEqual(await retention.getMetricsSummary(), summary);
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
    json({
      subscriptions: [
        { ...subscription, subscriptionId: 3 },
        { ...subscription, subscriptionId: 2 },
      ],
      nextCursor: 'a+b',
    }),
    json({ subscriptions: [{ ...subscription, subscriptionId: 1 }], nextCursor: null }),
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
    json({ cancellations: [session], nextCursor: null }),
  );
  const listing = sessions.client().listCancellations({ outcome: 'saved', limit: 5, cursor: 'c' });
  for await (const { entries, nextCursor } of listing.pages()) {
    assert.deepEqual([entries.length, nextCursor], [1, null]);
  }
  assert.match(sessions.requests[0]?.url ?? '', /\?limit=5&outcome=saved&cursor=c$/);
});

test('gives the first page when a list is awaited, and as many entries as an array needs', async () => {
  const page = (nextCursor: string | null, ...ids: number[]) =>
    json({
      subscriptions: ids.map((subscriptionId) => ({ ...subscription, subscriptionId })),
      nextCursor,
    });
  await using service = await startFakeService(page('next', 3, 2), page(null, 1));
  const { entries, nextCursor } = await service.client().listSubscriptions();
  assert.deepEqual(
    [entries.map(({ subscriptionId }) => subscriptionId), nextCursor],
    [[3, 2], 'next'],
  );
  for (const [limit, ids, requests] of [
    [2, [3, 2], 1],
    [3, [3, 2, 1], 2],
    [Infinity, [3, 2, 1], 2],
  ] as const) {
    await using each = await startFakeService(page('next', 3, 2), page(null, 1));
    const listed = await each.client().listSubscriptions().toArray({ limit });
    assert.deepEqual(
      listed.map(({ subscriptionId }) => subscriptionId),
      ids,
    );
    assert.equal(each.requests.length, requests);
  }
  for (const limit of [0, 1.5, undefined as unknown as number]) {
    await assert.rejects(service.client().listSubscriptions().toArray({ limit }), /limit must be/);
  }
  await using refusing = await startFakeService(json(refusal('No.'), 403));
  await assert.rejects(async () => await refusing.client().listCancellations(), PermissionError);
});

test('says which client asks, in which version', async () => {
  await using service = await startFakeService(json({ plans: [] }));
  await service.client().listPlans();
  const { version } = JSON.parse(
    await readFile(new URL('../package.json', import.meta.url), 'utf8'),
  );
  assert.equal(service.requests[0]?.headers['user-agent'], `retention-typescript/${version}`);
});

test('does not let anyone wait for an entitlement until a spent limit is over, unless told to', async () => {
  await using service = await startFakeService(
    json(refusal('Slow down'), 429, { 'retry-after': '59' }),
  );
  const waits: (number | undefined)[] = [];
  const hooks = { onResponse: ({ retryInMs }: ResponseInfo) => void waits.push(retryInMs) };
  const retention = new Retention({ baseUrl: service.baseUrl, key: 'rtn_test', hooks });
  await assert.rejects(retention.entitled(501), RateLimitError);
  assert.deepEqual(waits, [undefined]);
  // Jobs would rather wait.
  const stopping = new AbortController();
  const patient = retention.getEntitlements(501, { signal: stopping.signal });
  while (waits.length < 2) await new Promise(setImmediate);
  stopping.abort();
  await assert.rejects(patient, { name: 'AbortError' });
  assert.ok((waits[1] ?? 0) >= 59_000);
});

test('stops reading pages when the loop ends', async () => {
  await using service = await startFakeService(
    json({ subscriptions: [{ ...subscription, subscriptionId: 3 }], nextCursor: 'next' }),
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
      assert.equal(error.message, `getSubscription: Refused with ${status} (request req_1)`);
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
    await using service = await startFakeService(answer, json({ plans: [plan] }));
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

test('ends a request for an entitlement when its last caller has gone', async () => {
  const closed = Promise.withResolvers<void>();
  await using service = await startFakeService(
    (request) => void request.socket.on('close', () => closed.resolve()),
    json(refusal('Busy'), 503, { 'retry-after': '30' }),
    json({ subscriptions: [entry] }),
  );
  const waits = Promise.withResolvers<void>();
  const onResponse = ({ retryInMs }: ResponseInfo) => retryInMs !== undefined && waits.resolve();
  const retention = service.client({ hooks: { onResponse } });
  const [first, second, third] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ];
  const gone = [first, second].map(({ signal }) => retention.entitled(501, { signal }));
  const ends = gone.map((each) => assert.rejects(each, { name: 'AbortError' }));
  while (service.requests.length === 0) await new Promise(setImmediate);
  first.abort();
  await ends[0];
  second.abort();
  await Promise.all([...ends, closed.promise]);
  const waiting = assert.rejects(retention.entitled(501, { signal: third.signal }), {
    name: 'AbortError',
  });
  await waits.promise;
  third.abort();
  await waiting;
  // It does not wait for what the others began.
  assert.equal(await retention.entitled(501), true);
  assert.equal(service.requests.length, 3);
  await assert.rejects(retention.entitled(501, { signal: AbortSignal.abort() }));
});

test('gives a caller with more time than the request that it joined another one', async () => {
  let isSlow = true;
  await using service = await startFakeService((_request, response) => {
    if (!isSlow) response.end(JSON.stringify({ subscriptions: [entry] }));
  });
  const retention = service.client();
  const short = retention.entitled(501, { deadlineMs: 50 }).finally(() => (isSlow = false));
  const long = retention.entitled(501);
  await assert.rejects(short, TimeoutError);
  assert.equal(await long, true);
  isSlow = true;
  const patient = retention.entitled(502, { signal: AbortSignal.timeout(300) });
  await assert.rejects(retention.entitled(502, { deadlineMs: 50 }), TimeoutError);
  await assert.rejects(patient, { name: 'TimeoutError' });
});
