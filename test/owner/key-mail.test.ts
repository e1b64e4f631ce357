import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Mailer, MailRefused } from '../../src/mail/mailer.ts';
import { Outbox } from '../../src/mail/outbox.ts';
import { isWellFormedKey } from '../../src/access/keys/key-format.ts';
import { run } from '../cli/process.ts';
import { onOneDatabase, serverUrl } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { type World, createShop, startWorld } from '../support/world.ts';
import { startMailServer } from './notifications/mail-server.ts';
import { type Page, signedInOwner, keyIdIn } from './visitor.ts';

const keyOf = ({ text }: Page) => /rtn_[\w-]{43}/.exec(text)?.[0] ?? '';

onOneDatabase('mail about a new key', (open) => {
  let world: World;
  let server: Awaited<ReturnType<typeof startMailServer>>;
  before(async () => {
    server = await startMailServer();
    world = await startWorld(open(), { mail: { url: server.url, from: undefined } });
  });
  after(async () => {
    await world.close();
    await server.close();
  });

  async function openShop() {
    const shop = await createShop(world.store, { tier: 'growth' });
    const owners = [
      await signedInOwner(world, { shopId: shop.id }),
      await signedInOwner(world, { shopId: shop.id }),
    ] as const;
    const emails = owners.map(({ email }) => email).toSorted();
    /** The newest mail of every owner, once each has so many. */
    const mails = async (count: number) => {
      const received = () => server.received.filter(({ to }) => emails.includes(to));
      await until(async () => received().length === 2 * count);
      const last = received().slice(-2);
      assert.deepEqual(last.map(({ to }) => to).toSorted(), emails);
      return last.map(({ text }) => text.replaceAll('\r', ''));
    };
    return { shop, owner: owners[0], mails, path: `/app/shops/${shop.id}/keys` };
  }

  test('goes to every owner, says who made it and what it may, and has no key', async () => {
    const { shop, owner, mails, path } = await openShop();
    const id = keyIdIn(await owner.visitor.get(`${path}/new`));
    const fields = { id, name: 'Till', scope: 'read:plans', networks: '203.0.113.0/24' };
    const key = keyOf(await owner.visitor.post(path, { ...fields, expiry: '7' }));
    assert.equal(isWellFormedKey(key), true);
    for (const mail of await mails(1)) {
      assert.match(mail, /^Subject: Test: a new API key$/m);
      assert.ok(
        mail.includes(
          `The key “Till” of Test was created by ${owner.email} from the network 127.0.0.0/24.`,
        ),
        mail,
      );
      assert.ok(mail.includes('It reads selling-plan definitions (read:plans).'));
      assert.ok(
        mail.includes('used from 203.0.113.0/24, and expires at 2026-11-27T12:00:00.000Z.'),
      );
      assert.ok(mail.includes(`\n${world.service.baseUrl}/app/shops/${shop.id}/keys\n`));
      assert.ok(!mail.includes(key) && !mail.includes(key.slice(-8)));
    }

    const rotation = `${path}/${id}/rotate`;
    const newId = keyIdIn(await owner.visitor.get(rotation));
    await owner.visitor.post(rotation, { id: newId, overlap: '1', expiry: '' });
    for (const mail of await mails(2)) {
      assert.ok(mail.includes('used from 203.0.113.0/24, and does not expire.'), mail);
    }
  });

  test('goes out for a key of the command line, too, and a failure does not hide the key', async () => {
    const { shop, mails } = await openShop();
    const env = {
      DATABASE_URL: serverUrl ?? '',
      LOG_LEVEL: 'warn',
      BASE_URL: 'https://retention.example',
      SMTP_URL: server.url,
    };
    const create = ['keys', 'create', '--shop', String(shop.id), '--name', 'Agent'];
    const made = await run([...create, '--scopes', 'read:plans,read:metrics'], { env });
    assert.equal(made.code, 0, made.err);
    for (const mail of await mails(1)) {
      assert.ok(mail.includes('“Agent” of Test was created by the command line.'), mail);
      assert.ok(mail.includes('(read:metrics).') && mail.includes('(read:plans); '));
      assert.ok(mail.includes('used from everywhere, and does not expire.'));
      assert.ok(mail.includes(`\nhttps://retention.example/app/shops/${shop.id}/keys\n`));
      assert.ok(!mail.includes(made.out.trim()));
    }
    const unsent = await run([...create, '--scopes', 'read:plans'], {
      env: { ...env, SMTP_URL: 'smtp://127.0.0.1:1' },
    });
    assert.equal(unsent.code, 0);
    assert.equal(isWellFormedKey(unsent.out.trim()), true);
    assert.match(unsent.err, /could not send mail/);
  });

  test('that one owner cannot get still reaches the others', async () => {
    const sent: string[] = [];
    const logged: unknown[] = [];
    const mailer: Pick<Mailer, 'send'> = {
      async send({ to }) {
        if (to === 'a') throw new MailRefused('No such mailbox');
        sent.push(to);
      },
    };
    const outbox = new Outbox(() => mailer, { warn: (...line: unknown[]) => logged.push(line) });
    const letters = ['a', 'b', 'c'].map((to) => ({ to, subject: '', text: '', html: '' }));
    outbox.post('a new key', async () => letters);
    await outbox.settle();
    assert.deepEqual(sent, ['b', 'c']);
    assert.equal(logged.length, 1);
  });
});
