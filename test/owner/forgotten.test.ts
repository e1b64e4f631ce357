import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedClock } from '../../src/clock.ts';
import { createLog } from '../../src/log/log.ts';
import { type Mailer, MailRefused, type Message } from '../../src/mail/mailer.ts';
import { Outbox } from '../../src/mail/outbox.ts';
import { onOneOwnDatabase } from '../support/own-databases.ts';
import { until } from '../support/until.ts';
import { type World, startTestService, startWorld, now } from '../support/world.ts';
import { startMailServer } from './notifications/mail-server.ts';
import { Visitor, newAddress, newEmail, password, signIn, signedInOwner } from './visitor.ts';

const hour = 3_600_000;
const path = '/app/forgot-password';

// Services delete what is old by their clock, which moves here.
onOneOwnDatabase('a forgotten password', (open) => {
  let world: World;
  let server: Awaited<ReturnType<typeof startMailServer>>;
  const clock = new FixedClock(now);
  before(async () => {
    server = await startMailServer();
    const mail = { url: server.url, from: undefined };
    world = await startWorld(open(), { clock, mail });
  });
  after(async () => {
    await world.close();
    await server.close();
  });

  /** Asks for a link, in a new browser. */
  async function ask(email: string, from = newAddress()) {
    const visitor = new Visitor(world.service.baseUrl, from);
    await visitor.get(path);
    return visitor.post(path, { email });
  }
  const mailsTo = (email: string) => server.received.filter(({ to }) => to === email);
  /** The newest mail to an address, once there are so many. */
  async function mailTo(email: string, count = 1) {
    await until(async () => mailsTo(email).length === count);
    return mailsTo(email).at(-1)?.text ?? '';
  }

  test('is replaced by a link that comes by mail, and a mail says so', async () => {
    const { email, visitor } = await signedInOwner(world);
    const asked = await ask(` ${email.toUpperCase()} `);
    assert.deepEqual([asked.status, asked.location], [303, `${path}?done=sent`]);
    const mail = await mailTo(email);
    assert.match(mail, /^Subject: Choose a new password\r$/m);
    assert.doesNotMatch(mail, /List-Unsubscribe/);
    const [link = ''] = /\/app\/links\/[\w-]{43}/.exec(mail) ?? [];
    assert.ok(mail.includes(`\n${world.service.baseUrl}${link}\r`));

    const reader = new Visitor(world.service.baseUrl);
    assert.equal((await reader.get(link)).status, 200);
    assert.equal((await reader.post(link, { password: `new ${password}` })).location, '/app');
    assert.equal((await reader.get('/app/account')).status, 200);
    assert.equal((await visitor.get('/app/account')).status, 303);
    assert.equal((await signIn(world.service.baseUrl, email)).page.status, 422);
    assert.equal((await new Visitor(world.service.baseUrl).get(link)).status, 404);
    const changed = await mailTo(email, 2);
    assert.match(changed, /^Subject: Your password was changed\r$/m);
    assert.ok(changed.includes(`${world.service.baseUrl}${path}`));
  });

  test('is answered alike for an unknown address, before anybody is looked up', async () => {
    const { email } = await signedInOwner(world);
    const { write } = world.store;
    // Holds up every statement that looks for an account.
    await write.begin(async (tx) => {
      await tx`lock table owners.accounts in access exclusive mode`;
      const answers = await Promise.all(
        [email, newEmail()].map(async (each) => {
          const { status, headers, text } = await ask(each);
          headers.delete('x-request-id');
          headers.delete('date');
          return { status, headers: [...headers], text };
        }),
      );
      assert.equal(answers[0]?.status, 303);
      assert.deepEqual(answers[0], answers[1]);
    });
    await mailTo(email);
    const [row] = await write<{ count: number }[]>`select count(*)::int from owners.links
      where created_at = ${new Date(clock.now())} and shop_id is null and used_at is null`;
    assert.equal(row?.count, 1);
  });

  test('brings at most three mails an hour to an address, known or not', async () => {
    const { email } = await signedInOwner(world);
    for (const each of [email, newEmail()]) {
      for (let count = 0; count < 3; count += 1) assert.equal((await ask(each)).status, 303);
      const refused = await ask(each);
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '3600']);
      assert.match(refused.text, /asked for too often\. [^.]*try again in 60 minutes/);
    }
    await mailTo(email, 3);
    clock.advance(hour - 1);
    assert.equal((await ask(email)).headers.get('retry-after'), '1');
    clock.advance(1);
    assert.equal((await ask(email)).status, 303);
    await mailTo(email, 4);
    // Who asks for links may still sign in.
    assert.equal((await signIn(world.service.baseUrl, email)).page.status, 303);
  });

  test('may be said twenty times an hour from a network', async () => {
    const from = newAddress();
    for (let count = 0; count < 20; count += 1) {
      assert.equal((await ask(newEmail(), from)).status, 303);
    }
    assert.equal((await ask(newEmail(), from)).status, 429);
    assert.equal((await ask(newEmail())).status, 303);
  });

  test('needs an address, and a form of the service', async () => {
    for (const email of ['', 'ana', 'a b@example.com', `${'a'.repeat(254)}@example.com`]) {
      const { status, text } = await ask(email);
      assert.equal(status, 422, email);
      assert.match(text, /Enter an email address/);
    }
    const visitor = new Visitor(world.service.baseUrl);
    assert.equal((await visitor.post(path, { email: newEmail() })).status, 403);
  });

  test('is a matter of the operator where no mail is sent', async () => {
    const { email } = await signedInOwner(world);
    const service = await startTestService(world.store, { clock });
    try {
      const visitor = new Visitor(service.baseUrl);
      await visitor.get('/app/sign-in');
      for (const { status, text } of [
        await visitor.get(path),
        await visitor.post(path, { email }),
      ]) {
        assert.equal(status, 200);
        assert.match(text, /This service sends no mail\.[^]*owners reset/);
      }
    } finally {
      await service.close();
    }
    assert.deepEqual(mailsTo(email), []);
  });
});

test('the log has no addresses of mail that could not be sent', async () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  const refusal = Object.assign(new Error('550 <ana@example.com> unknown'), { responseCode: 550 });
  const mailer: Pick<Mailer, 'send'> = {
    send: () => Promise.reject(new MailRefused(refusal.message, { cause: refusal })),
  };
  const outbox = new Outbox(() => mailer, log);
  const message: Message = { to: 'ana@example.com', subject: '', text: '', html: '' };
  outbox.post('a changed password', async () => message);
  outbox.post('a forgotten password', async () => {
    throw new Error('ana@example.com');
  });
  outbox.post('a forgotten password', async () => undefined);
  await outbox.settle();
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    told.map(({ msg, about, responseCode }) => [msg, about, responseCode]),
    [
      ['could not send mail', 'a forgotten password', undefined],
      ['could not send mail', 'a changed password', 550],
    ],
  );
  assert.doesNotMatch(lines.join(''), /ana|example/);
});
