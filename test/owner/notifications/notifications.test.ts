import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { FixedClock } from '../../../src/clock.ts';
import { type Mailer, type Message, openMailer } from '../../../src/mail/mailer.ts';
import { sendDue } from '../../../src/owner/notifications/sender.ts';
import { listEvents } from '../../../src/store/owners/events.ts';
import { setRole } from '../../../src/accounts/team.ts';
import { findOwnerByEmail } from '../../../src/store/owners/owners.ts';
import type { Role } from '../../../src/vocabulary.ts';
import { plan, subscription } from '../../rest/records.ts';
import { onOneDatabase } from '../../support/databases.ts';
import {
  type World,
  createShop,
  importAll,
  now,
  silentLog,
  startTestService,
  startWorld,
} from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { Visitor, newEmail, removeOwner, signedInOwner } from '../visitor.ts';
import { startMailServer } from './mail-server.ts';

const operator = { who: 'command line' };
const day = 86_400_000;
/** The Monday after `now`, when the week from 2026-11-16 has ended. */
const monday = Date.parse('2026-11-23T06:00:00Z');

onOneDatabase('digests and alerts', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());
  beforeEach(() => world.store.write`delete from owners.notifications`);

  /** What is sent at an instant. */
  async function sendAt(at: number, mailer?: Pick<Mailer, 'send'>): Promise<Message[]> {
    const sent: Message[] = [];
    await sendDue({
      store: world.store,
      clock: new FixedClock(at),
      log: silentLog,
      baseUrl: 'https://data.example.com',
      mailer: {
        requiresTls: false,
        send: async (message) => void sent.push(message),
        verify: async () => {},
        close() {},
        ...mailer,
      },
    });
    return sent;
  }

  async function owner(choice: Record<string, string>, shop = world.shop) {
    const { visitor, email } = await signedInOwner(world, { shopId: shop.id });
    const path = `/app/shops/${shop.id}/notifications`;
    const page = await visitor.get(path);
    assert.match(page.text, /A choice counts from the next\s+06:00 UTC on/);
    const saved = await visitor.post(path, choice);
    assert.equal(saved.location, `${path}?done=saved`, saved.text);
    return { visitor, email, path, shop };
  }

  /** A shop with `cancelled` cancellations on the day before `monday`, and one on each of the days before. */
  async function shopWithCancellations(cancelled: number) {
    const shop = await createShop(world.store, { currency: 'EUR' });
    const ended = (id: number, at: number) => {
      const time = new Date(at).toISOString();
      return subscription(id, {
        customerId: id,
        status: 'cancelled',
        createdAt: '2026-09-01T00:00:00Z',
        updatedAt: time,
        statusEvents: [{ at: time, to: 'cancelled' }],
      });
    };
    const sunday = Date.parse('2026-11-22T10:00:00Z');
    const records = [
      plan(),
      subscription(1, { customerId: 1, createdAt: '2026-09-01T00:00:00Z' }),
      ...Array.from({ length: 40 }, (_, index) => ended(100 + index, sunday - (index + 1) * day)),
      ...Array.from({ length: cancelled }, (_, index) => ended(200 + index, sunday)),
    ];
    const clock = new FixedClock(monday);
    assert.deepEqual((await importAll(world.store, shop, records, false, clock)).refused, []);
    return shop;
  }

  test('sends a digest of the week once, on Monday', async () => {
    const shop = await shopWithCancellations(3);
    const { email } = await owner({ digest: 'on' }, shop);
    assert.deepEqual(await sendAt(Date.parse(now)), []);
    assert.deepEqual(await sendAt(monday - 1), []);
    const [message, ...others] = await sendAt(monday);
    assert.deepEqual(others, []);
    assert.equal(message?.to, email);
    assert.equal(message.subject, 'Test: week from Nov 16, 2026: MRR down €275 (90%)');
    // The answer of the overview, and where it leads.
    const [answer] = message.text.split('\n');
    assert.equal(
      answer,
      'Worse: MRR down €275 (90%). €275 lost to cancellations. Churn rate rose from 7 of 17 to 9 of 10. The week from Nov 16, 2026 to Nov 22, 2026 (UTC), beside the one before.',
    );
    // One a day from Monday to Saturday, and three on Sunday.
    assert.match(message.text, /^Cancellations: 9 \(The week before: 7\)$/m);
    assert.match(message.html, /<td [^>]*>9<\/td>\s*<td [^>]*>7<\/td>/);
    const base = `https://data.example.com/app/shops/${shop.id}`;
    assert.ok(message.text.includes(`${base}?from=2026-11-16&to=2026-11-22`), message.text);
    assert.deepEqual(await sendAt(monday + day), []);
    assert.equal((await sendAt(monday + 7 * day)).length, 1);
  });

  test('writes negative amounts with a true minus sign', async () => {
    const shop = await shopWithCancellations(0);
    const records = [
      {
        type: 'payment',
        id: 9001,
        subscriptionId: 1,
        cycle: '2026-11',
        status: 'succeeded',
        amount: '30.60',
        processedAt: '2026-11-01T00:00:00Z',
      },
      {
        type: 'refund',
        id: 71,
        paymentId: 9001,
        amount: '30.60',
        refundedAt: '2026-11-18T00:00:00Z',
      },
    ];
    assert.deepEqual((await importAll(world.store, shop, records)).refused, []);
    await owner({ digest: 'on' }, shop);
    const [message] = await sendAt(monday);
    assert.match(message?.text ?? '', /^Revenue: −€30\.60 \(The week before: €0\.00\)$/m);
    assert.doesNotMatch(message?.html ?? '', /-€/);
  });

  test('tells about an unusual day, once, and about none that is not', async () => {
    await owner({ unusual: 'on' }, await shopWithCancellations(3));
    const { email, shop } = await owner({ unusual: 'on' }, await shopWithCancellations(8));
    const [message, ...others] = await sendAt(monday);
    assert.deepEqual(others, []);
    assert.equal(message?.to, email);
    assert.match(
      message.text,
      /^8 cancellations on Sunday, Nov 22, 2026 \(UTC\): more than usual for a Sunday, and/,
    );
    const link = /^See who cancelled: https:\/\/data\.example\.com(.*)$/m.exec(message.text)?.[1];
    assert.match(link ?? '', /\/churn\/left\?cause=cancelled&from=2026-11-22&to=2026-11-22$/);
    assert.ok(message.html.includes('>See who cancelled</a>'));
    assert.deepEqual(await sendAt(monday), []);
    assert.deepEqual(await sendAt(monday + day), []);
    // Charts mark the day that it is about.
    const [event, ...more] = await listEvents(world.store.write, shop.id, {
      from: 0,
      until: monday,
    });
    assert.deepEqual(more, []);
    assert.deepEqual(event?.at, new Date('2026-11-22T00:00:00Z'));
    assert.match(event.detail, /^8 cancellations on Sunday, Nov 22, 2026/);
  });

  test('tells when a limit is exceeded, and again only after the figure was within it', async () => {
    const shop = await shopWithCancellations(0);
    const { visitor, path } = await owner({ minMrr: '31', maxChurnRate: '100' }, shop);
    const [message] = await sendAt(monday);
    // The 30 days that end with the day told about.
    const home = `https://data.example.com/app/shops/${shop.id}`;
    assert.ok(
      message?.text.includes(`: ${home}/revenue?from=2026-10-24&to=2026-11-22\n`),
      message?.text ?? 'nothing was sent',
    );
    assert.equal(
      message?.subject,
      'Test: Monthly recurring revenue is €30.60, below your limit of €31.00',
    );
    assert.deepEqual(await sendAt(monday + day), []);
    await visitor.get(path);
    await visitor.post(path, { minMrr: '30' });
    assert.deepEqual(await sendAt(monday + 2 * day), []);
    await visitor.post(path, { minMrr: '30.61' });
    assert.equal((await sendAt(monday + 3 * day)).length, 1);
  });

  test('ends by one click without signing in, and only by a form or a mail program', async () => {
    const shop = await shopWithCancellations(0);
    const { visitor, path } = await owner({ digest: 'on', maxOutstanding: '5' }, shop);
    const [message] = await sendAt(monday);
    const { pathname } = new URL(message?.unsubscribeUrl ?? '');
    const stranger = new Visitor(world.service.baseUrl);
    const page = await stranger.get(pathname);
    assert.match(page.text, /Email about Test to/);
    assert.equal((await sendAt(monday + 7 * day)).length, 1, 'opening the link changes nothing');
    // As RFC 8058 says that mail programs do.
    const ended = await fetch(world.service.baseUrl + pathname, {
      method: 'POST',
      body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
    });
    assert.equal(ended.status, 200);
    assert.deepEqual(await sendAt(monday + 14 * day), []);
    const { text } = await visitor.get(path);
    assert.doesNotMatch(text, /checked/);
    assert.match(text, /name="maxOutstanding"[^>]*value=""/);
    const unknown = pathname.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    assert.equal((await stranger.get(unknown)).status, 404);
    assert.equal((await stranger.post(unknown)).status, 404);
  });

  test('tries again after a failure, and sends nothing twice or to those who lost access', async () => {
    const shop = await shopWithCancellations(0);
    const { email } = await owner({ digest: 'on' }, shop);
    const failing = { send: () => Promise.reject(new Error('connection refused')) };
    assert.deepEqual(await sendAt(monday, failing), []);
    assert.deepEqual(await sendAt(monday + 60_000), [], 'still reserved');
    assert.equal((await sendAt(monday + 600_000)).length, 1);
    const several = await Promise.all([1, 2, 3].map(() => sendAt(monday + 7 * day)));
    assert.equal(several.flat().length, 1);
    await removeOwner(world.store, email, shop.id);
    assert.deepEqual(await sendAt(monday + 14 * day), []);
  });

  test('sends figures only to those whose role has them', async () => {
    const shop = await shopWithCancellations(0);
    await signedInOwner(world, { shopId: shop.id });
    const { email } = await owner({ digest: 'on' }, shop);
    const { ownerId = '' } = (await findOwnerByEmail(world.store.write, email)) ?? {};
    const change = (role: Role) =>
      setRole(world.store.write, world.clock, { shopId: shop.id, ownerId, role }, operator);
    await change('developer');
    assert.deepEqual(await sendAt(monday), []);
    await change('analyst');
    assert.deepEqual(
      (await sendAt(monday)).map(({ to }) => to),
      [email],
    );
  });

  test('shows what is sent beside the choice, and an example where nothing is unusual', async () => {
    const preview = async (shop: typeof world.shop, choice = {}) => {
      const { visitor, path } = await owner(choice, shop);
      const { text } = await visitor.get(path);
      const sections = [...text.matchAll(/<section class="letter">(.*?)<\/section>/gs)];
      return sections.map(([, markup = '']) => plain(markup));
    };
    const shop = await shopWithCancellations(0);
    const [digest, example] = await preview(shop, { minMrr: '1' });
    // The week before `now`.
    assert.match(
      digest ?? '',
      /The last digest Subject: Test: week from Nov 9, 2026: MRR down €21/,
    );
    assert.match(digest ?? '', /Cancellations 7 7/);
    assert.match(digest ?? '', /See the week/);
    assert.match(
      example ?? '',
      /An alert, as an example .*12 cancellations on Thursday, Nov 19, 2026 \(UTC\): more than usual/,
    );
    const [, alert] = await preview(shop, { minMrr: '5000' });
    assert.match(alert ?? '', /The last alert .*below your limit of €5,000\.00\. See what/);
    // Of a shop without data, that of a made-up one.
    const [sample, ...others] = await preview(await createShop(world.store));
    assert.match(sample ?? '', /A digest Subject: Test: week from Jan 19, 2026: MRR up /);
    assert.deepEqual(others, []);
  });

  test('sends a test mail to the owner alone, at most once a minute', async () => {
    const server = await startMailServer();
    const clock = new FixedClock(now);
    const mail = { url: server.url, from: 'us@example.com' };
    const service = await startTestService(world.store, { clock, mail });
    try {
      const shop = await shopWithCancellations(0);
      const { visitor, email } = await signedInOwner({ ...world, service }, { shopId: shop.id });
      const path = `/app/shops/${shop.id}/notifications`;
      await visitor.get(path);
      const sent = await visitor.post(path, { digest: 'on', test: 'on' });
      assert.equal(sent.location, `${path}?done=sent`, sent.text);
      const [received] = server.received;
      assert.equal(received?.to, email);
      assert.match(received.text, /^Subject: .*Test:_test,_week_from_Nov_9,_2026/m);
      assert.match(received.text, /^This is a test\. Worse: MRR down/m);
      assert.match(received.text, /\/app\/unsubscribe\/[\w-]{43}/);
      assert.match((await visitor.get(`${path}?done=sent`)).text, /a test mail is on its way to/);
      // It was saved with it, and nothing that is due is lost.
      assert.match((await visitor.get(path)).text, /id="digest"[^>]*checked/);

      const again = await visitor.post(path, { minMrr: '5000', test: 'on' });
      assert.equal(again.status, 422);
      assert.match(again.text, /less than a minute ago/);
      assert.equal(server.received.length, 1);
      clock.advance(60_000);
      await visitor.post(path, { minMrr: '5000', test: 'on' });
      assert.match(
        server.received[1]?.text ?? '',
        /^This is a test\. Monthly recurring revenue is €/m,
      );

      const other = await signedInOwner(
        { ...world, service },
        { shopId: shop.id, email: `no-${newEmail()}` },
      );
      await other.visitor.get(path);
      const refused = await other.visitor.post(path, { test: 'on' });
      assert.match(refused.text, /refuses to send mail to no-/);
      await server.close();
      clock.advance(60_000);
      const unreachable = await visitor.post(path, { digest: 'on', test: 'on' });
      assert.match(unreachable.text, /the mail server could not be reached/);
    } finally {
      await service.close();
      await server.close();
    }
  });

  test('refuses limits that are not numbers, and keeps what was entered', async () => {
    const { visitor, path } = await owner({});
    for (const [field, text, problem] of [
      ['maxChurnRate', '101', /percentage from 0 to 100/],
      ['maxOutstanding', '2.5', /whole number/],
      ['minMrr', '1.234', /amount in USD/],
      ['minMrr', '-1', /amount in USD/],
    ] as const) {
      const page = await visitor.post(path, { [field]: text, digest: 'on' });
      assert.equal(page.status, 422);
      assert.match(page.text, problem);
      // What is wrong stands beside its field.
      assert.match(page.text, new RegExp(`role="alert" id="${field}-problem"`));
      assert.match(page.text, new RegExp(`name="${field}"[^>]*aria-describedby="${field}-problem`));
      assert.match(page.text, new RegExp(`name="${field}"[^>]*value="${text}"`));
      assert.match(page.text, /id="digest"[^>]*checked/);
    }
    const { text } = await visitor.get(path);
    assert.match(text, /No email is sent at the moment, not even a test/);
    assert.doesNotMatch(text, /name="test"/);
  });

  test('delivers by SMTP, with what mail programs need to unsubscribe', async () => {
    const server = await startMailServer({ password: 'p:w d' });
    const url = `smtp://test:${encodeURIComponent('p:w d')}@127.0.0.1:${server.port}`;
    const mailer = await openMailer({ url, from: undefined }, 'data.example.com');
    try {
      await mailer.verify();
      const { email } = await owner({ digest: 'on' }, await shopWithCancellations(1));
      await sendAt(monday, mailer);
      const [mail, ...others] = server.received;
      assert.deepEqual(others, []);
      assert.equal(mail?.to, email);
      assert.match(mail.text, /^From: Retention <retention@data\.example\.com>\r$/m);
      assert.match(
        mail.text,
        /^List-Unsubscribe: <https:\/\/data\.example\.com\/app\/unsubscribe\/[\w-]{43}>\r$/m,
      );
      assert.match(mail.text, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
      assert.match(mail.text, /Cancellations: 7 \(The week before: 7\)/);
    } finally {
      mailer.close();
      await server.close();
    }
  });

  test('goes on with the others if the server refuses one recipient for good', async () => {
    const server = await startMailServer();
    const mailer = await openMailer({ url: server.url, from: 'us@example.com' }, 'localhost');
    try {
      const shop = await shopWithCancellations(0);
      await owner({ digest: 'on' }, shop);
      const refused = await signedInOwner(world, { shopId: shop.id, email: `no-${newEmail()}` });
      await refused.visitor.get(`/app/shops/${shop.id}/notifications`);
      await refused.visitor.post(`/app/shops/${shop.id}/notifications`, { digest: 'on' });
      await sendAt(monday, mailer);
      assert.equal(server.received.length, 1);
      await sendAt(monday + day, mailer);
      assert.equal(server.received.length, 1);
    } finally {
      mailer.close();
      await server.close();
    }
  });

  test('says why it cannot send: a wrong password, or no server', async () => {
    const server = await startMailServer({ password: 'right' });
    const wrong = await openMailer(
      { url: `smtp://test:wrong@127.0.0.1:${server.port}`, from: undefined },
      'localhost',
    );
    await assert.rejects(wrong.verify(), /Invalid login/);
    await server.close();
    await assert.rejects(wrong.verify(), /ECONNREFUSED/);
    wrong.close();
  });
});
