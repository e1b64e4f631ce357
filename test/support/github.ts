import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PublishedKey {
  readonly key_identifier: string;
  /** PEM. */
  readonly key: string;
}

export interface Finding {
  readonly token: string;
  readonly type?: string;
  readonly url?: string;
}

/** In place of GitHub: publishes keys, and signs reports of leaked keys with one of them. */
export async function startGithub(others: readonly PublishedKey[] = []) {
  const id = 'a'.repeat(64);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const own = { key_identifier: id, key: publicKey.export({ type: 'spki', format: 'pem' }) };
  const state = {
    keys: [...others, own] as readonly PublishedKey[],
    requests: 0,
    /** Instead of the keys. */
    answer: undefined as string | undefined,
  };
  const server = createServer((_, response) => {
    state.requests += 1;
    response.end(state.answer ?? JSON.stringify({ public_keys: state.keys }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  /** @param more headers that differ */
  const send = (baseUrl: string, body: string, more: Readonly<Record<string, string>> = {}) =>
    fetch(`${baseUrl}/webhooks/secret-scanning`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'github-public-key-identifier': id,
        'github-public-key-signature': sign('sha256', Buffer.from(body), privateKey).toString(
          'base64',
        ),
        ...more,
      },
      body,
    });

  return {
    state,
    keysUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    send,
    /** Reports tokens. */
    report: (baseUrl: string, findings: readonly Finding[]) =>
      send(
        baseUrl,
        JSON.stringify(
          findings.map((each) => ({
            type: 'retention_api_key',
            url: '',
            source: 'commit',
            ...each,
          })),
        ),
      ),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
