import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Standing, Place, TooBusy, passwordProblem } from './passwords.ts';

const placesOf = (places: DisposableStack, standing: Standing, count: number) =>
  Array.from({ length: count }, () => places.use(new Place(standing)));

test('has 22 places for strangers, and as many others for known senders', () => {
  const places = new DisposableStack();
  placesOf(places, 'stranger', 22);
  assert.throws(() => new Place('stranger'), TooBusy);
  placesOf(places, 'known', 22);
  assert.throws(() => new Place('known'), TooBusy);
  places.dispose();
  using again = new DisposableStack();
  placesOf(again, 'stranger', 22);
  placesOf(again, 'known', 22);
});

test('computes two at a time, known senders first', async () => {
  using places = new DisposableStack();
  const begun: string[] = [];
  const work = new Map<string, PromiseWithResolvers<void>>();
  const compute = (name: string, standing: Standing) => {
    const [place] = placesOf(places, standing, 1);
    const ending = Promise.withResolvers<void>();
    work.set(name, ending);
    return place?.compute(() => {
      begun.push(name);
      return ending.promise;
    });
  };
  const results = [
    ...['a', 'b', 'c', 'd'].map((name) => compute(name, 'stranger')),
    ...['k', 'l'].map((name) => compute(name, 'known')),
  ];
  assert.deepEqual(begun, ['a', 'b']);
  const end = async (name: string, next: string[]) => {
    work.get(name)?.resolve();
    await results[['a', 'b', 'c', 'd', 'k', 'l'].indexOf(name)];
    assert.deepEqual(begun.slice(-next.length), next);
  };
  await end('b', ['k']);
  await end('k', ['l']);
  await end('a', ['c']);
  await end('l', ['d']);
  for (const name of ['c', 'd']) work.get(name)?.resolve();
  await Promise.all(results);
  assert.deepEqual(begun, ['a', 'b', 'k', 'l', 'c', 'd']);
});

const context = {
  email: 'ana.lopez@brew-lab.example',
  shopNames: ['Lumen Coffee Co.', 'Écume & Fils'],
};
const advice = 'Use three or more unrelated words.';

test('rejects common passwords in any disguise', async () => {
  for (const password of [
    'qwertyuiop12345',
    'Password1234567',
    'PASSWORD password',
    'iloveyou-iloveyou-iloveyou',
    'P@ssw0rdP@ssw0rd',
    'trustno1trustno1',
    'qwertyuiopasdfgh',
    '1q2w3e4r5t6y7u8i',
    '123456789012345',
    'abcdefghijklmnop',
    '2026 let me in please!',
    'ｐａｓｓｗｏｒｄｐａｓｓｗｏｒｄ',
  ]) {
    assert.equal(
      await passwordProblem(password, context),
      `This is one of the first passwords anyone tries. ${advice}`,
      password,
    );
  }
});

test('rejects names of the shops, the service and the owner', async () => {
  for (const password of [
    'LumenCoffee2026',
    'lumen.coffee.co 24',
    'retentionretention1',
    'Retention Data Service',
    'analopez-brewlab',
    'E\u0301cume & Fils 98',
    'lumen coffee password',
    'ana loves coffee!',
  ]) {
    assert.equal(
      await passwordProblem(password, context),
      `This is little more than your shop’s name, your email address or the name of this service. ${advice}`,
      password,
    );
  }
});

test('accepts passwords that merely contain such a word, long ones and generated ones', async () => {
  for (const password of [
    'correct horse battery',
    'password of a grumpy walrus',
    'lumen walrus gravel spoon',
    'my coffee has no milk in it',
    'xK9#vTq2!mLw8@Rz',
    '839201748392017',
    'пароль и ещё два слова',
    'the quick brown fox',
    'a'.repeat(100) + 'bcdefgh'.repeat(14),
  ]) {
    assert.equal(await passwordProblem(password, context), undefined, password);
  }
});
