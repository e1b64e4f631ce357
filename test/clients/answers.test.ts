import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, describe, test } from 'node:test';
import { laterAnswer, unusableAnswers } from './cases.ts';
import { clients } from './live.ts';

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(JSON.stringify(body));

/** A service that answers each request as `answer` says at the time. */
async function startService(t: TestContext, answer: Answer) {
  const service = { baseUrl: '', requests: 0, answer };
  const server = createServer((_request, response) => {
    service.requests += 1;
    service.answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  service.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return service;
}

const page = (nextCursor: unknown) => json(200, { cancellations: [], nextCursor });

for (const { name, missing, open } of clients) {
  describe(name, { skip: missing }, () => {
    test('never takes an answer of another shape for "not entitled"', async (t) => {
      const service = await startService(t, json(200, laterAnswer));
      const asker = open({ baseUrl: service.baseUrl, key: 'rtn_x', maxRetries: 0 });
      t.after(() => asker.close());
      assert.deepEqual(await asker.ask('entitled', [1], {}), { value: true });
      for (const [index, [status, body]] of unusableAnswers.entries()) {
        service.answer = json(status, body);
        const { message, ...outcome } = await asker.ask('entitled', [index + 2], {});
        const shown = JSON.stringify([status, body]);
        assert.deepEqual(outcome, { error: 'UnavailableError', status }, shown);
        assert.match(message ?? '', /^getEntitlements: The answer is not one of this service: /);
      }
    });

    test('says which field of an answer is not what it must be', async (t) => {
      const service = await startService(t, json(200, { plans: [{ id: 1, name: 5 }] }));
      const asker = open({ baseUrl: service.baseUrl, key: 'rtn_x', maxRetries: 0 });
      t.after(() => asker.close());
      const { message } = await asker.ask('listPlans', [], {});
      assert.equal(
        message,
        'listPlans: The answer is not one of this service: plans[0].name must be a text.',
      );
    });

    test('ends a list only where the service says that it ends', async (t) => {
      const service = await startService(t, page(null));
      const asker = open({ baseUrl: service.baseUrl, key: 'rtn_x', maxRetries: 0 });
      t.after(() => asker.close());
      assert.deepEqual(await asker.ask('listCancellations', [], {}), { value: [] });
      for (const cursor of [undefined, 5, true, { a: 1 }, 'the same']) {
        service.answer = page(cursor);
        const { error } = await asker.ask('listCancellations', [], {});
        assert.equal(error, 'UnavailableError', String(cursor));
      }
    });

    test('waits as long as Retry-After says in seconds or as a date, else as it likes', async (t) => {
      const service = await startService(t, json(503, {}));
      const asker = open({ baseUrl: service.baseUrl, key: 'rtn_x', maxRetries: 1 });
      t.after(() => asker.close());
      const attemptsWith = async (retryAfter: string) => {
        const before = service.requests;
        service.answer = json(503, {}, { 'retry-after': retryAfter });
        assert.equal((await asker.ask('listPlans', [], {})).error, 'UnavailableError');
        return service.requests - before;
      };
      const later = new Date(Date.now() + 3_600_000).toUTCString();
      for (const text of ['61', '99999999999', later]) assert.equal(await attemptsWith(text), 1);
      for (const text of ['0', '1.5', '-5', '10, 10', 'May 2', 'soon']) {
        assert.equal(await attemptsWith(text), 2, text);
      }
    });

    test('keeps to the deadline of a call, its attempts and waits together', async (t) => {
      const service = await startService(t, json(429, {}, { 'retry-after': '20' }));
      const options = { baseUrl: service.baseUrl, key: 'rtn_x', deadlineSeconds: 1 };
      const asker = open(options);
      t.after(() => asker.close());
      assert.equal((await asker.ask('entitled', [1], {})).error, 'RateLimitError');
      assert.equal(service.requests, 1);
      service.answer = () => {};
      const { error } = await asker.ask('entitled', [1], {});
      assert.match(error ?? '', /^(Request)?TimeoutError$/);
      assert.equal(service.requests, 2, 'there is no time for another attempt');
    });

    test('says of a redirection what to do, and of other answers their status', async (t) => {
      const service = await startService(t, json(302, {}, { location: '/elsewhere' }));
      const asker = open({ baseUrl: service.baseUrl, key: 'rtn_x' });
      t.after(() => asker.close());
      const messageOf = async () => (await asker.ask('listPlans', [], {})).message ?? '';
      assert.match(await messageOf(), /^listPlans: The service redirects to another address\./);
      service.answer = (response) => void response.writeHead(304).end();
      assert.equal(await messageOf(), 'listPlans: The service answered 304.');
    });
  });
}
