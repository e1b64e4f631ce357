import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordProblem } from './passwords.ts';

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

test('counts characters as they are hashed', async () => {
  // Each becomes eighteen.
  const long = await passwordProblem('ﷺ'.repeat(12) + 'abcdefgh', context);
  assert.equal(long, 'Use at most 200 characters.');
  assert.equal(await passwordProblem('ﷺ'.repeat(10) + 'abcdefgh', context), undefined);
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
