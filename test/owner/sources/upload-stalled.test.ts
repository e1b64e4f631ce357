import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { findOwnerByEmail, insertMembership } from '../../../src/store/owners/owners.ts';
import { until } from '../../support/until.ts';
import { createShop, openAnyStore } from '../../support/world.ts';
import { plain } from '../page-text.ts';
import type { Visitor } from '../visitor.ts';
import { ndjson, plan, type Uploads, startUploads, subscription } from './upload-world.ts';

const records = ndjson([plan, subscription(1)]);

describe('a file that stops arriving', () => {
  let world: Uploads;
  const open: ClientRequest[] = [];
  before(async () => {
    world = await startUploads(openAnyStore());
  });
  after(async () => {
    for (const each of open) each.destroy();
    await world.close();
  });

  /** Begins to send a file, and never ends. */
  function stall(visitor: Visitor, file: string, token = visitor.token) {
    const { baseUrl } = world.service;
    const sent = request(baseUrl + file, {
      method: 'POST',
      headers: {
        'content-type': 'multipart/form-data; boundary=X',
        'content-length': '1000000',
        origin: baseUrl,
        cookie: [...visitor.cookies].map((pair) => pair.join('=')).join('; '),
      },
    });
    sent.on('error', () => {});
    open.push(sent);
    sent.write(`--X\r\nContent-Disposition: form-data; name="token"\r\n\r\n${token}\r\n`);
    sent.write(
      '--X\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n',
    );
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    answered.catch(() => {});
    return {
      /** The page that answers it, although it has not ended. */
      async answer() {
        const [response] = await answered;
        return { status: response.statusCode, text: plain(await readText(response)) };
      },
    };
  }

  const arrives = (shop: { readonly id: number }) => until(() => world.filesOf(shop).length === 1);

  /** An owner with several shops. */
  async function openShops(count: number) {
    const { shop, visitor, email, file } = await world.openShop();
    const owner = await findOwnerByEmail(world.store.write, email);
    const shops = [{ shop, file }];
    while (shops.length < count) {
      const other = await createShop(world.store);
      const member = { ownerId: owner?.ownerId ?? '', shopId: other.id, role: 'owner' } as const;
      await world.store.write.begin((tx) => insertMembership(tx, member, new Date()));
      shops.push({ shop: other, file: `/app/shops/${other.id}/sources/file` });
    }
    return { visitor, shops };
  }

  test('holds no place of other owners, and two of its own', async () => {
    const { visitor, shops } = await openShops(4);
    const [first, second, third, fourth] = shops;
    assert.ok(first && second && third && fourth);
    for (const { shop, file } of [first, second]) {
      stall(visitor, file);
      await arrives(shop);
    }
    for (const { shop, file } of [third, fourth]) {
      const { status, text } = await stall(visitor, file).answer();
      assert.equal(status, 409);
      assert.match(text, /Two files of your other shops are being uploaded\. Try again when one/);
      assert.deepEqual(world.filesOf(shop), []);
    }
    const other = await world.openShop();
    const sent = await other.visitor.upload(other.file, { name: 'a.ndjson', content: records });
    assert.equal(sent.status, 303, sent.text);
    assert.match(plain((await other.visitor.get(other.file)).text), /The file has 1 subscription/);
  });

  test('makes way for the next file of its shop', async () => {
    const { shop, visitor, file } = await world.openShop();
    const stalled = stall(visitor, file);
    await arrives(shop);
    const sent = await visitor.upload(file, { name: 'next.ndjson', content: records });
    assert.equal(sent.status, 303, sent.text);
    const { status, text } = await stalled.answer();
    assert.equal(status, 409);
    assert.match(text, /Another file was uploaded for this shop meanwhile\./);
    assert.match(plain((await visitor.get(file)).text), /next\.ndjson/);
    assert.equal(world.filesOf(shop).length, 1);
  });

  test('is refused at once if its token is wrong', async () => {
    const { shop, visitor, file } = await world.openShop();
    const { status, text } = await stall(visitor, file, 'wrong').answer();
    assert.equal(status, 403);
    assert.match(text, /Nothing was changed/);
    assert.deepEqual(world.filesOf(shop), []);
  });
});
