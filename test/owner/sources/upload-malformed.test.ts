import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openAnyStore } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import { ndjson, plan, type Uploads, startUploads, subscription } from './upload-world.ts';

const form = 'multipart/form-data; boundary=X';
const records = ndjson([plan, subscription(1)]);
const part = (headers: string, content: string) => `--X\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, value: string) =>
  part(`Content-Disposition: form-data; name="${name}"`, value);
const file = (content = records) =>
  part('Content-Disposition: form-data; name="file"; filename="a.ndjson"', content);
const end = '--X--';

const broken = [400, /The file did not arrive whole\. Upload it again\./] as const;
const missing = [422, /Choose a file first\./] as const;
const foreign = [403, /Nothing was changed/] as const;

describe('a malformed form with a file', () => {
  let world: Uploads;
  /** Errors that would have ended the server. */
  const uncaught: Error[] = [];
  const note = (error: Error) => uncaught.push(error);
  before(async () => {
    process.on('uncaughtExceptionMonitor', note);
    world = await startUploads(openAnyStore());
  });
  after(async () => {
    await world.close();
    process.off('uncaughtExceptionMonitor', note);
  });

  for (const isRight of [true, false]) {
    const which = isRight ? 'right' : 'wrong';

    test(`is refused wherever it ends too early, with the ${which} token`, async () => {
      const { shop, visitor, file: path } = await world.openShop();
      const token = field('token', isRight ? visitor.token : 'wrong');
      const body = `${token}${field('note', 'first')}${file('id,a\r\n1,2')}${field('note', 'last')}${end}`;
      // The token has arrived once the next part begins.
      const tokenEnd = `${token}--X`.length;
      const expected = (length: number) => (isRight || length < tokenEnd ? broken : foreign);
      for (let length = 0; length < body.length; length += 1) {
        const page = await visitor.postBody(path, form, Buffer.from(body.slice(0, length)));
        const where = `after ${JSON.stringify(body.slice(0, length))}`;
        assert.equal(page.status, expected(length)[0], where);
        assert.match(plain(page.text), expected(length)[1], where);
      }
      const long = `${token}${file('x'.repeat(500_000))}`;
      const cut = await visitor.postBody(path, form, Buffer.from(long));
      assert.equal(cut.status, expected(long.length)[0]);
      assert.deepEqual(uncaught, []);
      assert.deepEqual(world.filesOf(shop), []);
      const whole = await visitor.postBody(path, form, Buffer.from(body));
      assert.equal(whole.status, isRight ? 303 : 403);
    });
  }

  for (const [title, contentType, bodyOf, right, wrong] of [
    [
      'without a boundary',
      'multipart/form-data',
      (token: string) => token + file() + end,
      broken,
      broken,
    ],
    [
      'with another boundary',
      'multipart/form-data; boundary=Y',
      (token: string) => token + file() + end,
      broken,
      broken,
    ],
    ['of another type', 'application/json', () => '{}', broken, broken],
    ['of no type', '', () => '', broken, broken],
    [
      'of fields in one line',
      'application/x-www-form-urlencoded',
      () => 'token=a&file=b',
      foreign,
      foreign,
    ],
    [
      'with bare line feeds',
      form,
      (token: string) => (token + file() + end).replaceAll('\r', ''),
      broken,
      broken,
    ],
    [
      'with a file that has no header',
      form,
      (token: string) => `${token}--X\r\n\r\n${records}\r\n${end}`,
      missing,
      foreign,
    ],
    [
      'with a file whose header never ends',
      form,
      (token: string) => `${token}--X\r\n${'a: b\r\n'.repeat(100_000)}${end}`,
      missing,
      foreign,
    ],
    [
      'with a file whose header is no header',
      form,
      (token: string) => `${token}${part('\0\u00ff', records)}${end}`,
      missing,
      foreign,
    ],
    [
      'with a file that is no form data',
      form,
      (token: string) =>
        `${token}${part('Content-Disposition: attachment; filename="a"', records)}${end}`,
      missing,
      foreign,
    ],
    [
      'with a quote that never closes',
      form,
      (token: string) =>
        `${token}${part('Content-Disposition: form-data; name="file; filename="a', records)}${end}`,
      missing,
      foreign,
    ],
    [
      'with a line break in a name',
      form,
      (token: string) =>
        `${token}${part('Content-Disposition: form-data; name="file"; filename="a\nb"', records)}${end}`,
      missing,
      foreign,
    ],
    [
      'with a part that is empty',
      form,
      (token: string) => `${token}--X\r\n${end}`,
      missing,
      foreign,
    ],
    [
      'with the token after the file',
      form,
      (token: string) => file() + token + end,
      foreign,
      foreign,
    ],
    [
      'with a field before the token that is too long',
      form,
      (token: string) => field('note', 'x'.repeat(5000)) + token + end,
      foreign,
      foreign,
    ],
    [
      'with too many fields before the token',
      form,
      (token: string) => field('note', 'x').repeat(9) + token + file() + end,
      foreign,
      foreign,
    ],
    ['with nothing but its end', form, () => `${end}\r\n`, foreign, foreign],
  ] as const) {
    test(`${title} is refused`, async () => {
      const { shop, visitor, file: path } = await world.openShop();
      for (const [token, [status, message]] of [
        [visitor.token, right],
        ['wrong', wrong],
      ] as const) {
        const body = Buffer.from(bodyOf(field('token', token)));
        const page = await visitor.postBody(path, contentType, body);
        assert.equal(page.status, status);
        assert.match(plain(page.text), message);
      }
      assert.deepEqual(uncaught, []);
      assert.deepEqual(world.filesOf(shop), []);
    });
  }
});
