import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { generateKey } from '../../src/access/keys/key-format.ts';
import {
  createShop,
  createTestKey,
  openAnyStore,
  startWorld,
  type World,
} from '../support/world.ts';
import { bearer, type RawAnswer, request } from './raw.ts';

function stable({ status, headers, body }: RawAnswer) {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { status, headers: rest, body };
}

describe('many invented keys from one address', () => {
  let world: World;
  const send = (key: string, from: string) =>
    request(world.service.baseUrl, 'GET', '/api/external/v1/plans', [
      bearer(key),
      `x-forwarded-for: ${from}`,
    ]);
  const newKey = async () => {
    const shop = await createShop(world.store);
    return (await createTestKey(world.store, shop.id)).key;
  };

  before(async () => {
    world = await startWorld(openAnyStore(), { listen: { trustedProxies: 1 } });
  });
  after(() => world.close());

  test('always get the same response; keys in use keep working there, and all keys elsewhere', async () => {
    const [flooded, elsewhere] = ['2001:db8:1:2::', '2001:db8:1:3::'];
    assert.equal((await send(world.key, elsewhere)).status, 200);
    const fresh = await newKey();
    const flood = async () => {
      const answers: RawAnswer[] = [];
      for (let each = 0; each < 110; each += 1) {
        answers.push(await send(generateKey(), flooded + each.toString(16)));
      }
      return answers;
    };
    const answers = await flood();
    // Not looked up, so treated as unknown.
    answers.push(await send(fresh, `${flooded}ffff`));
    assert.equal(new Set(answers.map((each) => JSON.stringify(stable(each)))).size, 1);
    assert.equal(answers[0]?.status, 401);

    assert.equal((await send(world.key, flooded)).status, 200);
    assert.equal((await send(await newKey(), elsewhere)).status, 200);
    assert.equal((await send(fresh, elsewhere)).status, 200);
    assert.equal((await send(fresh, flooded)).status, 200);

    // A known key is looked up again when its lease ends; a new one has to wait.
    world.clock.advance(1_000);
    await flood();
    const another = await newKey();
    assert.equal((await send(fresh, flooded)).status, 200);
    assert.equal((await send(another, flooded)).status, 401);
    world.clock.advance(10);
    assert.equal((await send(another, flooded)).status, 200);
  });
});
