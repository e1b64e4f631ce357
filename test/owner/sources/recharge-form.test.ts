import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/clock.ts';
import { createLog } from '../../../src/log/log.ts';
import { recharge as platform } from '../../../src/platforms/recharge/platform.ts';
import type { Store } from '../../../src/store/open.ts';
import { onOneDatabase } from '../../support/databases.ts';
import { type RechargeStandIn, startRecharge } from '../../support/recharge/stand-in.ts';
import { subscriptionsOf } from '../../support/recharge/world.ts';
import { createShop, startTestService } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { signedInOwner } from '../visitor.ts';
import { syncDue } from './connecting.ts';

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
    const logLines: string[] = [];
    const log = createLog('debug', { write: (line) => void logLines.push(line) });
    const clock = systemClock;
    const credentialsKeys = [randomBytes(32)];
    const settings = {
      credentialsFile: undefined,
      webhookSecrets: [],
      clientId: undefined,
      baseUrl: recharge.baseUrl,
      pointsShare: 1,
    };
    const platforms = { recharge: settings };
    const service = await startTestService(store, { clock, log, credentialsKeys, platforms });
    try {
      const shop = await createShop(store);
      const { visitor } = await signedInOwner({ store, clock, service, shop });
      const sources = `/app/shops/${shop.id}/sources`;
      const paste = async (token: string) => {
        await visitor.get(`${sources}/recharge/form`);
        return visitor.post(`${sources}/recharge/form`, { 'api-token': token });
      };
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
      const config = { platforms, credentialsKeys, baseUrl: undefined };
      await syncDue(platform, { store, shopId: shop.id, config, clock, log });
      const { text } = await visitor.get(sources);
      assert.match(
        plain(text),
        /Recharge Up to date .* Account beans\.example .* subscriptions plans and subscriptions/,
      );
      for (const told of [text, ...logLines]) {
        for (const each of [token, missing]) assert.ok(!told.includes(each), told);
      }
    } finally {
      await service.close();
    }
  });
});
