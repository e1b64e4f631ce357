import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { actNames } from '../../src/acts.ts';
import { auditOf } from '../support/audit.ts';
import { serverUrl } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { startCauses } from './causes.ts';

describe('each act', { timeout: 600_000 }, () => {
  let world: Awaited<ReturnType<typeof startCauses>>;
  before(async () => {
    world = await startCauses();
  });
  after(() => world.close());

  const everything = async () => {
    const [{ sum } = { sum: 0 }] = await world.store.write<{ sum: number }[]>`
      select coalesce(sum(number), 0)::int as sum from audit_heads`;
    return sum;
  };

  for (const what of actNames) {
    const needsServer = what === 'shop_moved' || what === 'shop_copied';
    const skip = needsServer && serverUrl === undefined && 'PostgreSQL is not available';
    test(`leaves its entry: ${what}`, { skip }, async () => {
      const cause = await world.causes[what]();
      const count0 = await everything();
      const { chain = world.shopId, entry, also = [] } = await cause();
      const found = await until(
        async () => (await auditOf(world.store.write, chain)).filter((each) => each.what === what),
        ({ length }) => length > 0,
      );
      const last = found.at(-1);
      assert.ok(last);
      const [who, via, target] = entry;
      for (const [given, expected] of [
        [last.who, who],
        [last.session, via],
        [last.target, target],
      ] as const) {
        if (expected instanceof RegExp) assert.match(given ?? '', expected);
        else assert.equal(given, expected);
      }
      const isFromNetwork = last.who === 'visitor' || last.who.startsWith('owner ');
      if (isFromNetwork) assert.match(last.network ?? '', /^127\.\d+\.\d+\.0\/24$/);
      else assert.equal(last.network, null);
      // Which deletes a chain.
      if (what !== 'shop_deleted' && what !== 'shop_moved') {
        await until(
          async () => (await everything()) - count0,
          (count) => count >= 1 + also.length,
        );
        assert.equal((await everything()) - count0, 1 + also.length, 'no further entries');
      }
    });
  }
});
