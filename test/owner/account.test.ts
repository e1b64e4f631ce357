import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onOneDatabase } from '../support/databases.ts';
import { type World, createShop, startWorld } from '../support/world.ts';
import { plain, rowsOf } from './page-text.ts';
import { Visitor, password, signedInOwner, isSignedIn } from './visitor.ts';

const account = '/app/account';

onOneDatabase('the account page', (open) => {
  let world: World;
  before(async () => {
    world = await startWorld(open());
  });
  after(() => world.close());

  /** What its list of sessions says. */
  async function sessionsOf(visitor: Visitor) {
    const { text } = await visitor.get(account);
    const section = text.slice(text.indexOf('id="sessions"'));
    return {
      rows: rowsOf(section),
      ids: [...section.matchAll(/value="([0-9a-f]{12})"/g)].map(([, id = '']) => id),
    };
  }
  async function signInWith(email: string, userAgent: string) {
    const visitor = new Visitor(world.service.baseUrl);
    await visitor.get('/app/sign-in');
    const headers = { origin: world.service.baseUrl, 'user-agent': userAgent };
    assert.equal((await visitor.post('/app/sign-in', { email, password }, headers)).status, 303);
    return visitor;
  }

  test('lists sessions with browser, network and times, and ends one or all others', async () => {
    const { email, visitor } = await signedInOwner(world);
    world.clock.advance(3_600_000);
    const firefox =
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const windows = await signInWith(email, firefox);
    world.clock.advance(60_000);
    const long = await signInWith(email, `x${'y'.repeat(4000)}`);
    world.clock.advance(60_000);
    const { rows, ids } = await sessionsOf(visitor);
    const network = '127.0.0.0/24';
    assert.deepEqual(rows, [
      ['Unknown', network, 'Nov 20, 2026, 12:00 PM UTC', 'This one', ''],
      ['Unknown', network, 'Nov 20, 2026, 1:01 PM UTC', '1 minute ago', 'End session'],
      [
        'Firefox on Windows',
        network,
        'Nov 20, 2026, 1:00 PM UTC',
        '2 minutes ago',
        'End Firefox on Windows',
      ],
    ]);
    const [, ofWindows = ''] = ids;
    const ended = await visitor.post('/app/account/sessions', { session: ofWindows });
    assert.equal(ended.location, `${account}?done=session`);
    assert.deepEqual([await isSignedIn(windows), await isSignedIn(long)], [false, true]);
    // Those of others are out of reach.
    const { visitor: stranger } = await signedInOwner(world);
    await stranger.post('/app/account/sessions', { session: ids[0] ?? '' });
    await stranger.post('/app/account/sessions', { session: ids[1] ?? '' });
    assert.equal(await isSignedIn(long), true);
    const others = await visitor.post('/app/account/sessions', { session: 'others' });
    assert.equal(others.location, `${account}?done=others`);
    assert.deepEqual([await isSignedIn(visitor), await isSignedIn(long)], [true, false]);
    assert.equal((await sessionsOf(visitor)).rows.length, 1);
  });

  test('shows sessions of the version before as unknown', async () => {
    const { email, visitor } = await signedInOwner(world);
    await world.store.write`
      update owners.sessions s set browser = null, network = null
      from owners.accounts a where a.owner_id = s.owner_id and a.email = ${email}`;
    assert.deepEqual((await sessionsOf(visitor)).rows[0]?.slice(0, 2), ['Unknown', 'Unknown']);
  });

  test('keeps a name that the team, the menu and the log show, until it is taken back', async () => {
    const { email, visitor } = await signedInOwner(world);
    await visitor.get(account);
    const save = (name: string) => visitor.post('/app/account/name', { name });
    for (const wrong of ['x'.repeat(81), 'Ana\u202eavliS', 'Ana\nSilva']) {
      const { status, text } = await save(wrong);
      assert.equal(status, 422);
      assert.match(text, /role="alert"[^>]*>Use one line of at most 80 characters/);
    }
    assert.equal((await save(' Žofia Nováková ')).location, `${account}?done=name`);
    const { text } = await visitor.get(account);
    assert.match(text, /class="avatar" aria-hidden="true">ŽN</);
    assert.ok(plain(text).includes(`Žofia Nováková ${email}`));
    assert.ok(!(await visitor.get('/app/nowhere')).text.includes('value="Žofia'));
    await save('');
    assert.doesNotMatch((await visitor.get(account)).text, /Žofia/);
  });

  test('leads to what each shop offers the role, and out of it', async () => {
    const { email, visitor } = await signedInOwner(world, { role: 'developer' });
    const second = await createShop(world.store);
    await signedInOwner(world, { shopId: second.id });
    const only = plain((await visitor.get(account)).text);
    assert.match(only, /Test Developer Leave Test/);
    await signedInOwner(world, { shopId: second.id, email });
    const { text } = await visitor.get(account);
    assert.match(text, new RegExp(`href="/app/shops/${second.id}/notifications"`));
    const leave = `/app/shops/${second.id}/leave`;
    await visitor.get(leave);
    assert.equal((await visitor.post(leave)).location, `${account}?done=left`);
    assert.equal((await visitor.get(`/app/shops/${second.id}`)).status, 404);
    assert.equal(await isSignedIn(visitor), true);
  });
});
