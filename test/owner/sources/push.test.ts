import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log/log.ts';
import type { Service } from '../../../src/service.ts';
import type { Store } from '../../../src/store/open.ts';
import { credentialsKeys, deliver } from '../../push/world.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { type ShopOptions, createShop, startTestService } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { type Page, signedInOwner } from '../visitor.ts';

const session = {
  type: 'cancellation',
  id: 7001,
  detectedReason: 'too_expensive',
  createdAt: '2026-11-17T10:58:00Z',
};
const idOf = ({ text }: Page) => /name="id" value="(src_[0-9a-f]{24})"/.exec(text)?.[1] ?? '';
const secretOf = ({ text }: Page) => /whsec_[A-Za-z0-9+/]{43}=/.exec(text)?.[0] ?? '';

onOneDatabase('push sources on the page Sources', (open) => {
  let store: Store;
  let service: Service;
  before(async () => {
    store = open();
    service = await startTestService(store, { clock: systemClock, credentialsKeys });
  });
  after(async () => {
    await service.close();
    await store.close();
  });

  async function openShop(options: ShopOptions = {}, at = service) {
    const shop = await createShop(store, options);
    const place = { store, clock: systemClock, service: at, shop };
    const { visitor } = await signedInOwner(place);
    return { shop, visitor, sources: `/app/shops/${shop.id}/sources` };
  }

  test('are created, rotated and revoked by the owner', async () => {
    const { visitor, sources } = await openShop();
    const listed = await visitor.get(sources);
    assert.match(listed.text, /Create push source/);
    const sourceId = idOf(await visitor.get(`${sources}/push/new`));
    const unnamed = await visitor.post(`${sources}/push`, { id: sourceId, name: ' ' });
    assert.equal(unnamed.status, 422);
    const form = { id: sourceId, name: 'Billing & <more>' };
    const created = await visitor.post(`${sources}/push`, form);
    assert.equal(created.status, 201);
    assert.ok(created.text.includes(`${service.baseUrl}/ingest/v1/${sourceId}/records`));
    const first = secretOf(created);
    const again = await visitor.post(`${sources}/push`, form);
    assert.equal(again.location, `${sources}?done=push-already`);
    const page = await visitor.get(sources);
    assert.match(plain(page.text), new RegExp(`Billing & <more> ${sourceId}`));
    assert.doesNotMatch(page.text, /whsec_/);

    const status = async (secret: string) =>
      (await deliver(service.baseUrl, { sourceId, secret }, [session])).status;
    assert.equal(await status(first), 202);
    const path = `${sources}/push/${sourceId}`;
    const unwarned = await visitor.get(`${path}/rotate`);
    assert.equal(unwarned.status, 200);
    assert.doesNotMatch(plain(unwarned.text), /as soon as you continue/);
    const second = secretOf(await visitor.post(`${path}/rotate`, { overlap: '24' }));
    assert.deepEqual([await status(first), await status(second)], [202, 202]);
    assert.match(plain((await visitor.get(sources)).text), /Old secret works until/);
    const warned = plain((await visitor.get(`${path}/rotate`)).text);
    assert.match(warned, /It ends as soon as you continue/);
    const third = secretOf(await visitor.post(`${path}/rotate`, { overlap: '0' }));
    assert.deepEqual([await status(second), await status(third)], [401, 202]);

    assert.match((await visitor.get(`${path}/revoke`)).text, /Revoke push source\?/);
    const revoked = await visitor.post(`${path}/revoke`, {});
    assert.equal(revoked.location, `${sources}?done=push-revoked`);
    assert.equal(await status(third), 401);
    assert.doesNotMatch((await visitor.get(sources)).text, new RegExp(sourceId));
    assert.equal((await visitor.get(`${path}/rotate`)).status, 404);
  });

  test('are rotated once if the form is sent twice, so that the secret in use goes on', async () => {
    const { visitor, sources } = await openShop();
    const sourceId = idOf(await visitor.get(`${sources}/push/new`));
    const path = `${sources}/push/${sourceId}/rotate`;
    const first = secretOf(await visitor.post(`${sources}/push`, { id: sourceId, name: 'Till' }));
    const openForm = async () => {
      const { text } = await visitor.get(path);
      return { overlap: '24', before: /name="before" value="(\d*)"/.exec(text)?.[1] ?? '?' };
    };
    const status = async (secret: string) =>
      (await deliver(service.baseUrl, { sourceId, secret }, [session])).status;
    const form = await openForm();
    const second = secretOf(await visitor.post(path, form));
    const again = await visitor.post(path, form);
    assert.equal(again.location, `${sources}?done=push-rotated-before`);
    assert.match((await visitor.get(again.location ?? '')).text, /The secret was already replaced/);
    assert.deepEqual([await status(first), await status(second)], [202, 202]);
    const third = secretOf(await visitor.post(path, await openForm()));
    assert.deepEqual(
      [await status(first), await status(second), await status(third)],
      [401, 202, 202],
    );
  });

  test('of another shop cannot be changed', async () => {
    const { visitor, sources } = await openShop();
    const sourceId = idOf(await visitor.get(`${sources}/push/new`));
    await visitor.post(`${sources}/push`, { id: sourceId, name: 'Billing' });
    const other = await openShop();
    for (const action of ['rotate', 'revoke']) {
      const path = `${other.sources}/push/${sourceId}/${action}`;
      assert.equal((await other.visitor.get(path)).status, 404);
      await other.visitor.get(other.sources);
      assert.equal((await other.visitor.post(path, { overlap: '0' })).status, 404);
    }
  });

  test('are logged without their secrets, as they are stored or shown', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog('info', {
      write: (text) =>
        void lines.push(
          ...text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line)),
        ),
    });
    const logging = await startTestService(store, { clock: systemClock, log });
    try {
      const { shop, visitor, sources } = await openShop({}, logging);
      const sourceId = idOf(await visitor.get(`${sources}/push/new`));
      await visitor.post(`${sources}/push`, { id: sourceId, name: 'Billing' });
      await visitor.post(`${sources}/push/${sourceId}/rotate`, { overlap: '24' });
      await visitor.post(`${sources}/push/${sourceId}/revoke`, {});
      const told = lines.filter(({ msg }) => String(msg).startsWith('push source '));
      assert.deepEqual(
        told.map(({ level: _level, time: _time, by: _by, until: _until, ...line }) => line),
        [
          { shopId: shop.id, source: sourceId, msg: 'push source created' },
          { shopId: shop.id, sourceId, msg: 'push source rotated' },
          { shopId: shop.id, sourceId, msg: 'push source revoked' },
        ],
      );
    } finally {
      await logging.close();
    }
  });

  test('need a tier with API access', async () => {
    const { visitor, sources } = await openShop({ tier: 'starter' });
    const page = await visitor.get(sources);
    assert.match(plain(page.text), /Available from the Growth tier/);
    const id = idOf(await visitor.get(`${sources}/push/new`));
    const refused = await visitor.post(`${sources}/push`, { id, name: 'Billing' });
    assert.equal(refused.location, sources);
  });
});
