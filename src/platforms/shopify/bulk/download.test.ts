import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type RequestListener, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, after, before, test } from 'node:test';
import { download } from './download.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'retention-download-test-'));
});
after(() => rmSync(folder, { recursive: true }));

const backoff = { random: () => 0, wait: () => Promise.resolve() };

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const start = (url: string, origin: string, more: { bytes?: number; maxBytes?: number } = {}) => {
  const file = path.join(folder, 'result.jsonl');
  const options = { bytes: undefined, ...more };
  return download({ url, origin, file, backoff, signal: undefined, ...options }).then(() =>
    readFileSync(file, 'utf8'),
  );
};

test('downloads a result only by https from where Shopify keeps them, and never shows its address', async (t) => {
  let requests = 0;
  const elsewhere = await serve(t, (_request, response) => {
    requests += 1;
    response.end();
  });
  for (const url of [
    `${elsewhere}/result?Signature=secret`,
    'http://storage.googleapis.com/result?Signature=secret',
    'https://storage.googleapis.com.example/result?Signature=secret',
    'https://notshopify.com/result?Signature=secret',
    'https://169.254.169.254/result?Signature=secret',
    'file:///etc/passwd?Signature=secret',
    'secret',
  ]) {
    await assert.rejects(start(url, 'https://a.myshopify.com'), (error: Error) => {
      assert.match(
        error.message,
        /^The result of a bulk query is at .*\. Results are downloaded by https from storage\.googleapis\.com, shopify\.com, shopifycdn\.com only\.$/,
      );
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
  assert.equal(requests, 0);
});

test('follows no redirection of a result', async (t) => {
  let requests = 0;
  const other = await serve(t, (_request, response) => {
    requests += 1;
    response.end();
  });
  const origin = await serve(t, (_request, response) => {
    response.writeHead(302, { location: `${other}/result` }).end();
  });
  await assert.rejects(start(`${origin}/result`, origin), {
    message: 'The result of a bulk query redirects to another address, which is not followed.',
  });
  assert.equal(requests, 0);
});

test('stops at a size, whether Shopify reports it or not', async (t) => {
  let requests = 0;
  const origin = await serve(t, (_request, response) => {
    requests += 1;
    const chunk = Buffer.alloc(65_536);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
  const message =
    'The result of a bulk query is larger than 1000000 bytes, which is the most that is downloaded.';
  await assert.rejects(start(`${origin}/endless`, origin, { maxBytes: 1_000_000 }), { message });
  const reported = { bytes: 1_000_001, maxBytes: 1_000_000 };
  await assert.rejects(start(`${origin}/endless`, origin, reported), { message });
  assert.equal(requests, 1, 'one that is reported as too large is not requested');
  // More than was reported is no result.
  await assert.rejects(start(`${origin}/endless`, origin, { bytes: 100_000 }), {
    message: 'the result of the bulk query could not be downloaded completely',
  });
  const whole = await serve(t, (_request, response) => void response.end('{"id":1}\n'));
  assert.equal(await start(`${whole}/r`, whole, { bytes: 9, maxBytes: 9 }), '{"id":1}\n');
});
