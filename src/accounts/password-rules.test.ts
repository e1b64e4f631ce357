import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passwordProblem } from './password-rules.ts';

const context = {
  email: 'ana.lopez@brew-lab.example',
  shopNames: ['Lumen Coffee Co.', 'Écume & Fils'],
};
const advice = 'Use three or more words that do not belong together.';

test('passwords that are tried first are refused, however they are dressed up', async () => {
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

test('so are the names of the shops, of the service and of the owner', async () => {
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
      `This is little more than your shop’s name, your e-mail address or the name of this service. ${advice}`,
      password,
    );
  }
});

test('what only contains such a word is taken, and whatever is long or from a generator', async () => {
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
