import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { findMapping } from '../../../src/push/mappings.ts';
import { type Scheme, schemeNames, schemes } from '../../../src/push/signature.ts';
import { vendors } from '../../../src/owner/sources/vendors.ts';
import type { Service } from '../../../src/service.ts';
import type { Store } from '../../../src/store/open.ts';
import { credentialsKeys } from '../../push/world.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { createShop, startTestService } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { signedInOwner } from '../visitor.ts';

test('the page offers every vendor whose signatures are known, with a mapping for messages', async () => {
  assert.deepEqual(
    Object.keys(vendors).toSorted(),
    schemeNames.filter((name) => name !== 'standard').toSorted(),
  );
  for (const name of schemeNames) {
    const { mapping }: Scheme = schemes[name];
    assert.equal(mapping === undefined, name === 'standard');
    if (mapping !== undefined) assert.ok(await findMapping(mapping), mapping);
  }
});

onOneDatabase('a vendor on the page Sources', (open) => {
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

  async function openForm() {
    const shop = await createShop(store);
    const { visitor } = await signedInOwner({ store, clock: systemClock, service, shop });
    const sources = `/app/shops/${shop.id}/sources`;
    const { text } = await visitor.get(`${sources}/push/new`);
    const id = /name="id" value="(src_[0-9a-f]{24})"/.exec(text)?.[1] ?? '';
    return { visitor, sources, id, text };
  }
  const send = (address: string, body: string, secret: string) => {
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    return fetch(address, {
      method: 'POST',
      headers: { 'stripe-signature': `t=${time},v1=${signature}` },
      body,
    });
  };

  test('gets an address first, then gives its secret, and its messages are taken', async () => {
    const { visitor, sources, id, text } = await openForm();
    for (const { title } of Object.values(vendors)) assert.ok(plain(text).includes(title));
    const form = { id, name: 'Stripe live', kind: 'stripe' };
    const step = await visitor.post(`${sources}/push`, form);
    assert.equal(step.status, 200);
    const address = `${service.baseUrl}/ingest/v1/${id}/mapped/stripe-webhooks`;
    assert.ok(step.text.includes(address));
    assert.match(plain(step.text), /invoice\.payment_failed/);
    const early = await send(address, '{"type":"ping"}', 'whsec_of_stripe_1');
    assert.equal(early.status, 401);

    for (const secret of ['', 'short', 'with a space in it', 'x'.repeat(501)]) {
      const refused = await visitor.post(`${sources}/push`, { ...form, step: 'secret', secret });
      assert.equal(refused.status, 422, secret);
      assert.match(plain(refused.text), /Paste the secret as the vendor shows it/);
      assert.ok(refused.text.includes(address));
    }
    const whole = { ...form, step: 'secret', secret: ' whsec_of_stripe_1\n' };
    const created = await visitor.post(`${sources}/push`, whole);
    assert.equal(created.status, 201);
    assert.ok(created.text.includes(address));
    assert.doesNotMatch(created.text, /whsec_of/);
    const again = await visitor.post(`${sources}/push`, whole);
    assert.equal(again.location, `${sources}?done=push-created`);
    assert.equal((await send(address, '{"type":"ping"}', 'whsec_of_stripe_1')).status, 202);
    const listed = await visitor.get(sources);
    assert.match(plain(listed.text), new RegExp(`Stripe live ${id} Stripe`));
    assert.ok((await visitor.get(`${sources}/push/${id}/setup`)).text.includes(address));
  });

  test('gets its next secret by rotation', async () => {
    const { visitor, sources, id } = await openForm();
    const form = { id, name: 'Stripe', kind: 'stripe', step: 'secret', secret: 'first-secret' };
    await visitor.post(`${sources}/push`, form);
    const path = `${sources}/push/${id}/rotate`;
    assert.match(plain((await visitor.get(path)).text), /Make a new secret at Stripe/);
    const refused = await visitor.post(path, { overlap: '0', secret: 'no' });
    assert.equal(refused.status, 422);
    const rotated = await visitor.post(path, { overlap: '0', secret: 'second-secret' });
    assert.equal(rotated.location, `${sources}?done=push-rotated`);
    const address = `${service.baseUrl}/ingest/v1/${id}/mapped/stripe-webhooks`;
    assert.equal((await send(address, '{"type":"ping"}', 'first-secret')).status, 401);
    assert.equal((await send(address, '{"type":"ping"}', 'second-secret')).status, 202);
  });

  test('that is not known creates nothing; nor does one of another shop show its address', async () => {
    const { visitor, sources, id } = await openForm();
    const form = { id, name: 'Other', kind: 'constructor', step: 'secret', secret: 'long-enough' };
    const refused = await visitor.post(`${sources}/push`, form);
    assert.equal(refused.status, 422);
    assert.match(plain(refused.text), /Choose what sends/);
    await visitor.post(`${sources}/push`, { ...form, kind: 'churnkey' });
    const other = await openForm();
    for (const action of ['setup', 'rotate']) {
      assert.equal((await other.visitor.get(`${other.sources}/push/${id}/${action}`)).status, 404);
    }
  });
});
