import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { recharge as platform } from '../../../src/platforms/recharge/platform.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { type RechargeStandIn, startRecharge } from '../../support/recharge/stand-in.ts';
import { subscriptionsOf } from '../../support/recharge/world.ts';
import { plain } from '../page-text.ts';
import { openForm } from './pasting.ts';

onOneDatabase('pasting a token of Recharge', (open) => {
  let store: Store;
  let recharge: RechargeStandIn;
  before(async () => {
    store = open();
    recharge = await startRecharge(systemClock);
    for (const each of subscriptionsOf().slice(0, 5)) recharge.put('subscriptions', each);
  });
  after(async () => {
    await recharge.close();
    await store.close();
  });

  test('refuses what does not suffice in Recharge’s words, and starts at once', async () => {
    const { baseUrl } = recharge;
    const owner = await openForm(store, platform, { baseUrl });
    const { sources, logLines, visitor } = owner;
    try {
      const paste = (token: string) => owner.paste({ 'api-token': token });
      const missing = recharge.createToken(['read_orders']);
      const cases: readonly (readonly [string, RegExp])[] = [
        ['not a token', /This must be an API token of Recharge/],
        [`sk_1x1_${'a'.repeat(40)}`, /the token is not valid/],
        [missing, /read_orders/],
      ];
      for (const [token, reason] of cases) {
        const page = await paste(token);
        assert.equal(page.status, 422, token);
        assert.match(plain(page.text), reason);
        assert.ok(!page.text.includes(token));
      }
      const token = recharge.createToken();
      assert.equal((await paste(token)).location, `${sources}?done=connected`);
      await owner.sync();
      const { text } = await visitor.get(sources);
      assert.match(
        plain(text),
        /Recharge Up to date .* Account beans\.example .* subscriptions plans and subscriptions/,
      );
      for (const told of [text, ...logLines]) {
        for (const each of [token, missing]) assert.ok(!told.includes(each), told);
      }
    } finally {
      await owner.service.close();
    }
  });
});
