import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { type TestContext, after, before, describe, test } from 'node:test';
import { generateKey } from '../../src/access/keys/key-format.ts';
import { FixedClock, systemClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { createKeyFinder, isSignedWith } from '../../src/secret-scanning/public-keys.ts';
import { listKeys } from '../../src/store/keys/keys.ts';
import type { Service } from '../../src/service.ts';
import type { Store } from '../../src/store/open.ts';
import { startMailServer } from '../owner/notifications/mail-server.ts';
import { signedInOwner } from '../owner/visitor.ts';
import { auditOf } from '../support/audit.ts';
import { onOneDatabase } from '../support/databases.ts';
import { type PublishedKey, startGithub } from '../support/github.ts';
import { until } from '../support/until.ts';
import { createShop, createTestKey, get, silentLog, startTestService } from '../support/world.ts';

const pem = (lines: string) => `-----BEGIN PUBLIC KEY-----\n${lines}\n-----END PUBLIC KEY-----\n`;

/** From GitHub's documentation of its secret scanning partner program, as it is now and as it was before. */
const vectors = [
  {
    id: 'f9525bf080f75b3506ca1ead061add62b8633a346606dc5fe544e29231c6ee0d',
    key: pem(
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEsz9ugWDj5jK5ELBK42ynytbo38gP\nHzZFI03Exwz8Lh/tCfL3YxwMdLjB+bMznsanlhK0RwcGP3IDb34kQDIo3Q==',
    ),
    body: '[{"token":"some_token","type":"some_type","url":"some_url","source":"some_source"}]',
    signature:
      'MEUCIFLZzeK++IhS+y276SRk2Pe5LfDrfvTXu6iwKKcFGCrvAiEAhHN2kDOhy2I6eGkOFmxNkOJ+L2y8oQ9A2T9GGJo6WJY=',
  },
  {
    id: '90a421169f0a406205f1563a953312f0be898d3c7b6c06b681aa86a874555f4a',
    key: pem(
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9MJJHnMfn2+H4xL4YaPDA4RpJqUq\nkCmRCBnYERxZanmcpzQSXs1X/AljlKkbJ8qpVIW4clayyef9gWhFbNHWAA==',
    ),
    body: '[{"token":"some_token","type":"some_type","url":"some_url"}]',
    signature:
      'MEUCIQDKZokqnCjrRtw0tni+2Ltvl/uiMJ1EGumEsp1BsNr32AIgQY1YXD2nlj+XNfGK4rBfkMJ1JDOQcYXxa2sY8FNkrKc=',
  },
];
const published: PublishedKey[] = vectors.map(({ id, key }) => ({ key_identifier: id, key }));
const signedBy = ({ id, signature }: { readonly id: string; readonly signature: string }) => ({
  'github-public-key-identifier': id,
  'github-public-key-signature': signature,
});

onOneDatabase('reports of leaked keys', (open) => {
  let store: Store;
  let github: Awaited<ReturnType<typeof startGithub>>;
  let mailServer: Awaited<ReturnType<typeof startMailServer>>;
  let service: Service;
  const lines: string[] = [];
  before(async () => {
    store = open();
    github = await startGithub(published);
    mailServer = await startMailServer();
    const destination = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    service = await startTestService(store, {
      clock: systemClock,
      log: createLog('debug', destination as never),
      secretScanningKeysUrl: github.keysUrl,
      mail: { url: mailServer.url, from: undefined },
    });
  });
  after(async () => {
    await service.close();
    await mailServer.close();
    await github.close();
    await store.close();
  });

  const ask = async (key: string) =>
    (await get(`${service.baseUrl}/api/external/v1/plans`, key)).status;
  const placeUrl = 'https://github.com/octocat/hello/blob/12345600b9/config.txt';

  for (const vector of vectors) {
    test(`accepts what GitHub publishes as signed by ${vector.id.slice(0, 8)}, and not a byte else`, async () => {
      const answer = await github.send(service.baseUrl, vector.body, signedBy(vector));
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
      assert.deepEqual(await answer.json(), [
        { token_raw: 'some_token', token_type: 'some_type', label: 'false_positive' },
      ]);
      for (const body of [`${vector.body} `, vector.body.replace('some', 'sume'), '[]', '']) {
        const refused = await github.send(service.baseUrl, body, signedBy(vector));
        assert.equal(refused.status, 401, body);
      }
    });
  }

  test('revokes a key at once, and tells its shop’s owners where it was found', async () => {
    const [shop, other] = [
      await createShop(store, { tier: 'growth' }),
      await createShop(store, { tier: 'growth' }),
    ];
    const place = { store, clock: systemClock, service, shop };
    const { email } = await signedInOwner(place);
    const { email: otherEmail } = await signedInOwner(place, { shopId: other.id });
    const mine = await createTestKey(store, shop.id);
    const kept = await createTestKey(store, shop.id);
    const theirs = await createTestKey(store, other.id);
    // From now on, this instance holds leases of them.
    assert.deepEqual([await ask(mine.key), await ask(theirs.key)], [200, 200]);
    const unknown = generateKey();
    const answer = await github.report(service.baseUrl, [
      { token: mine.key, url: placeUrl },
      { token: unknown, url: placeUrl },
      { token: theirs.key },
      { token: mine.key, url: placeUrl },
      { token: `${mine.key}x`, type: 'other' },
    ]);
    assert.equal(answer.status, 200);
    const label = (token: string, isKey: boolean, type = 'retention_api_key') => ({
      token_raw: token,
      token_type: type,
      label: isKey ? 'true_positive' : 'false_positive',
    });
    assert.deepEqual(await answer.json(), [
      label(mine.key, true),
      label(unknown, false),
      label(theirs.key, true),
      label(mine.key, true),
      label(`${mine.key}x`, false, 'other'),
    ]);
    assert.deepEqual(
      [await ask(mine.key), await ask(theirs.key), await ask(kept.key)],
      [401, 401, 200],
    );
    for (const [shopId, id, found] of [
      [shop.id, mine.id, placeUrl],
      [other.id, theirs.id, 'a place that GitHub did not name'],
    ] as const) {
      const entries = (await auditOf(store.write, shopId)).filter(
        ({ what }) => what === 'key_leaked',
      );
      assert.deepEqual(
        entries.map(({ who, target }) => [who, target]),
        [['platform github', `${id} test, found at ${found}`]],
      );
      const revoked = (await listKeys(store.write, shopId)).filter(({ revokedAt }) => revokedAt);
      assert.deepEqual(
        revoked.map((key) => key.id),
        [id],
      );
    }

    const mails = () => mailServer.received.filter(({ to }) => [email, otherEmail].includes(to));
    await until(async () => mails().length === 2);
    const mail = mails().find(({ to }) => to === email);
    assert.match(mail?.text ?? '', /^Subject: Test: a leaked API key was revoked\r$/m);
    assert.match(mail?.text ?? '', /GitHub found the key “test” of Test in public/);
    assert.ok(mail?.text.includes(`\n${placeUrl}\r`));
    assert.ok(mail?.text.includes(`${service.baseUrl}/app/shops/${shop.id}/keys`));

    // Again, it is a key, and nothing more happens.
    const again = await github.report(service.baseUrl, [{ token: mine.key, url: placeUrl }]);
    assert.deepEqual(await again.json(), [label(mine.key, true)]);
    const later = await createTestKey(store, shop.id);
    await github.report(service.baseUrl, [{ token: later.key, url: placeUrl }]);
    await until(async () => mails().length === 3);
    assert.equal(
      (await auditOf(store.write, shop.id)).filter(({ what }) => what === 'key_leaked').length,
      2,
    );

    const log = lines.join('');
    assert.match(log, new RegExp(`"keyId":"${mine.id}".*"cause":"leak".*"key revoked"`));
    for (const { key } of [mine, theirs, later, { key: unknown }]) {
      assert.ok(!log.includes(key.slice(4)));
      assert.ok(mails().every(({ text }) => !text.includes(key.slice(4))));
    }
  });

  test('never repeats a token that is in its own address', async () => {
    const shop = await createShop(store);
    const { id, key } = await createTestKey(store, shop.id);
    await github.report(service.baseUrl, [
      { token: key, url: `https://gist.github.com/octocat/${key}, now x?${'a'.repeat(1_000)}` },
    ]);
    const [entry] = await auditOf(store.write, shop.id);
    assert.equal(entry?.what, 'key_leaked');
    assert.ok(
      entry.target?.startsWith(
        `${id} test, found at https://gist.github.com/octocat/rtn_[redacted],%20now%20x?aaa`,
      ),
      entry.target ?? '',
    );
    assert.ok((entry?.target ?? '').length < 600);
  });

  test('of 1,000 tokens revoke the one that is a key, and unknown ones cost no allowance', async () => {
    const shop = await createShop(store);
    const { key } = await createTestKey(store, shop.id);
    const tokens = [...Array.from({ length: 999 }, () => generateKey()), key];
    const answer = await github.report(
      service.baseUrl,
      tokens.map((token) => ({ token, url: placeUrl })),
    );
    assert.equal(answer.status, 200);
    const labels = ((await answer.json()) as { label: string }[]).map(({ label }) => label);
    assert.deepEqual(
      [labels.length, labels.filter((label) => label === 'true_positive').length, labels.at(-1)],
      [1_000, 1, 'true_positive'],
    );
    const other = await createTestKey(store, shop.id);
    const next = await github.report(service.baseUrl, [{ token: other.key }]);
    assert.equal(((await next.json()) as { label: string }[])[0]?.label, 'true_positive');
    // The sender's network may look up keys as before.
    assert.equal(await ask((await createTestKey(store, shop.id)).key), 200);
  });

  test('revoke the others where one key cannot be revoked, which the next report revokes', async () => {
    const [moving, shop] = [await createShop(store), await createShop(store)];
    const place = { store, clock: systemClock, service, shop };
    const { email } = await signedInOwner(place);
    const keys = [await createTestKey(store, moving.id), await createTestKey(store, shop.id)];
    const report = () =>
      github.report(
        service.baseUrl,
        keys.map(({ key }) => ({ token: key, url: placeUrl })),
      );
    const statusOf = () => Promise.all(keys.map(({ key }) => ask(key)));
    await store.write`
      insert into metric_shops (shop_id, moving_to) values (${moving.id}, 'elsewhere')
      on conflict (shop_id) do update set moving_to = excluded.moving_to`;
    assert.equal((await report()).status, 503);
    assert.deepEqual(await statusOf(), [200, 401]);
    await until(
      async () => mailServer.received.filter(({ to }) => to === email),
      ({ length }) => length > 0,
    );
    await store.write`update metric_shops set moving_to = null where shop_id = ${moving.id}`;
    assert.equal((await report()).status, 200);
    assert.deepEqual(await statusOf(), [401, 401]);
    assert.equal(mailServer.received.filter(({ to }) => to === email).length, 1);
  });

  test('are refused unsigned, of an unknown key, too large or malformed', async () => {
    const shop = await createShop(store);
    const { key } = await createTestKey(store, shop.id);
    const body = JSON.stringify([{ token: key, type: 'x', url: placeUrl }]);
    const isUnsigned = /^\{"success":false,"message":"The report is not signed by GitHub/;
    for (const headers of [
      { 'github-public-key-signature': '' },
      { 'github-public-key-identifier': '' },
      { 'github-public-key-identifier': 'b'.repeat(64) },
      { 'github-public-key-identifier': '../../x' },
      { 'github-public-key-signature': 'MEUCIQ' },
      { 'github-public-key-signature': 'A'.repeat(96) },
      signedBy(vectors[0] as (typeof vectors)[number]),
    ]) {
      const answer = await github.send(service.baseUrl, body, headers);
      assert.equal(answer.status, 401, JSON.stringify(headers));
      assert.match(await answer.text(), isUnsigned);
    }
    const huge = await github.send(service.baseUrl, ' '.repeat(1024 * 1024 + 1));
    assert.equal(huge.status, 413);
    for (const text of [
      '',
      '{}',
      'null',
      '[1]',
      '[{"token":1,"type":"x"}]',
      '[{"type":"x"}]',
      JSON.stringify(Array.from({ length: 2_001 }, () => ({ token: key, type: 'x' }))),
    ]) {
      const answer = await github.send(service.baseUrl, text);
      assert.equal(answer.status, 400, text.slice(0, 40));
      assert.match(await answer.text(), /must be a JSON list of at most 2000 objects/);
    }
    const wrongType = await github.send(service.baseUrl, body, { 'content-type': 'text/plain' });
    assert.equal(wrongType.status, 415);
    assert.equal(await ask(key), 200);
  });

  test('have no address unless it is known where GitHub’s keys are', async () => {
    const without = await startTestService(store);
    assert.equal((await github.send(without.baseUrl, '[]')).status, 404);
    await without.close();
  });
});

describe('the public keys of GitHub', () => {
  const minute = 60_000;
  const start = async (t: TestContext) => {
    const github = await startGithub(published);
    t.after(() => github.close());
    const clock = new FixedClock(0);
    return { github, clock, find: createKeyFinder(github.keysUrl, clock, silentLog) };
  };
  const [known = '', other = ''] = vectors.map(({ id }) => id);

  test('are read once an hour, and for unknown ids once a minute', async (t) => {
    const { github, clock, find } = await start(t);
    const found = await Promise.all([find(known), find(other), find('b'.repeat(64))]);
    assert.deepEqual(
      found.map((key) => key?.type),
      ['public', 'public', undefined],
    );
    assert.equal(github.state.requests, 1);
    for (let count = 0; count < 20; count += 1) await find(count.toString(16).repeat(64));
    assert.equal(github.state.requests, 1);
    clock.advance(minute);
    await find('b'.repeat(64));
    assert.equal(github.state.requests, 2);
    clock.advance(60 * minute - 1);
    await find(known);
    assert.equal(github.state.requests, 2);
    // One that is no longer published is refused.
    github.state.keys = published.slice(1);
    clock.advance(1);
    assert.equal(await find(known), undefined);
    assert.equal(github.state.requests, 3);
  });

  for (const [what, answer] of [
    ['no JSON', '<html>'],
    ['another form', '{"keys":[]}'],
    ['no key', '{"public_keys":[{"key_identifier":"b","key":"x"}]}'],
    ['an endless answer', `{"public_keys":[],"more":"${'x'.repeat(70_000)}"}`],
  ] as const) {
    test(`${what} in their place leaves those that were read before, and none at first`, async (t) => {
      const { github, clock, find } = await start(t);
      github.state.answer = answer;
      await assert.rejects(find(known), /not known/);
      github.state.answer = undefined;
      // Not asked again at once.
      await assert.rejects(find(known), /not known/);
      clock.advance(minute);
      assert.ok(await find(known));
      github.state.answer = answer;
      clock.advance(61 * minute);
      assert.ok(await find(known));
      assert.equal(github.state.requests, 3);
    });
  }

  test('are not fetched from where a redirect leads', async (t) => {
    const { github, clock } = await start(t);
    const server = createServer((_, response) => {
      response.writeHead(302, { location: github.keysUrl }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await assert.rejects(createKeyFinder(url, clock, silentLog)(known), /not known/);
    assert.equal(github.state.requests, 0);
  });

  test('must be of the curve P-256', async () => {
    const body = Buffer.from('[]');
    for (const [namedCurve, isRight] of [
      ['P-256', true],
      ['P-384', false],
    ] as const) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
      const signature = sign('sha256', body, privateKey).toString('base64');
      assert.equal(isSignedWith(publicKey, body, signature), isRight);
    }
  });
});
