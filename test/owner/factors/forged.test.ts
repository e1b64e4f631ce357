import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  type KeyObject,
  X509Certificate,
  createHash,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { findOwnerByEmail } from '../../../src/store/owners/owners.ts';
import { insertFactor, listFactors } from '../../../src/store/owners/factors.ts';
import { throwawayFolder } from '../../cli/process.ts';
import { opensslMissing } from '../../support/certificates.ts';
import { type World, openAnyStore, startWorld } from '../../support/world.ts';
import { Visitor, signedInOwner } from '../visitor.ts';

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const fromJwk = (text: string | undefined) => Buffer.from(text ?? '', 'base64url');

/** Each algorithm's key as authenticators send it (COSE, RFC 9053), and how it signs. */
const algorithms = {
  ES256: {
    generate: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    cose(key: KeyObject) {
      const { x, y } = key.export({ format: 'jwk' });
      const head = Buffer.from('a5010203262001215820', 'hex');
      return Buffer.concat([head, fromJwk(x), Buffer.from('225820', 'hex'), fromJwk(y)]);
    },
    sign: (data: Buffer, key: KeyObject) => sign('sha256', data, key),
  },
  EdDSA: {
    generate: () => generateKeyPairSync('ed25519'),
    cose: (key: KeyObject) =>
      Buffer.concat([
        Buffer.from('a4010103272006215820', 'hex'),
        fromJwk(key.export({ format: 'jwk' }).x),
      ]),
    sign: (data: Buffer, key: KeyObject) => sign(null, data, key),
  },
  RS256: {
    generate: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    cose(key: KeyObject) {
      const { n } = key.export({ format: 'jwk' });
      const head = Buffer.from('a401030339010020590100', 'hex');
      return Buffer.concat([head, fromJwk(n), Buffer.from('2143010001', 'hex')]);
    },
    sign: (data: Buffer, key: KeyObject) => sign('sha256', data, key),
  },
};

describe('a passkey that did not sign the answer', () => {
  let world: World<Clock>;
  let local: string;
  before(async () => {
    // Challenges end by the time of any service that starts, and most have the system's.
    world = await startWorld(openAnyStore(), { clock: systemClock });
    local = world.service.baseUrl.replace('127.0.0.1', 'localhost');
  });
  after(() => world.close());

  for (const [name, algorithm] of Object.entries(algorithms)) {
    test(`does not sign in (${name})`, async () => {
      const { store } = world;
      const { email } = await signedInOwner(world);
      const { ownerId = '' } = (await findOwnerByEmail(store.write, email)) ?? {};
      const { publicKey, privateKey } = algorithm.generate();
      const other = algorithm.generate().privateKey;
      const credentialId = randomBytes(32).toString('base64url');
      const passkey = {
        factorId: crypto.randomUUID(),
        ownerId,
        credentialId,
        name: 'Laptop',
        key: algorithm.cose(publicKey).toString('base64'),
        counter: 0,
        createdAt: new Date(systemClock.now()),
      };
      assert.ok(await store.write.begin((tx) => insertFactor(tx, passkey)));

      let counter = 0;
      /** Sends what an authenticator would, with a signature of our making. */
      const answer = async (signatureOf: (data: Buffer) => Buffer) => {
        const visitor = new Visitor(local);
        await visitor.get('/app/sign-in');
        const asked = await visitor.post('/app/passkey-challenge', { use: 'get' });
        const { challenge } = JSON.parse(asked.text) as { challenge: string };
        const client = { type: 'webauthn.get', challenge, origin: local, crossOrigin: false };
        const clientData = Buffer.from(JSON.stringify(client));
        const count = Buffer.alloc(4);
        count.writeUInt32BE((counter += 1));
        // User present and verified.
        const authenticator = Buffer.concat([sha256('localhost'), Buffer.from([0x05]), count]);
        const signature = signatureOf(Buffer.concat([authenticator, sha256(clientData)]));
        const response = {
          clientDataJSON: clientData.toString('base64url'),
          authenticatorData: authenticator.toString('base64url'),
          signature: signature.toString('base64url'),
        };
        const { location } = await visitor.post('/app/sign-in/passkey', {
          passkey: JSON.stringify({
            id: credentialId,
            rawId: credentialId,
            type: 'public-key',
            clientExtensionResults: {},
            response,
          }),
        });
        return location;
      };

      const refused = /^\/app\/sign-in\?/;
      const forgeries = [
        (data: Buffer) => algorithm.sign(data, other),
        (data: Buffer) => algorithm.sign(Buffer.concat([data, data]), privateKey),
        () => Buffer.from('3006020101020101', 'hex'),
        () => Buffer.from('AAAA', 'base64'),
        () => Buffer.alloc(0),
        () => randomBytes(64),
      ];
      for (const forge of forgeries) assert.match((await answer(forge)) ?? '', refused);
      const [stored] = await listFactors(store.write, ownerId);
      assert.equal(stored?.counter, 0);
      assert.equal(await answer((data) => algorithm.sign(data, privateKey)), '/app');
    });
  }
});

/** The head of a CBOR value of up to 65,535 bytes or elements. */
const head = (kind: number, length: number) =>
  Buffer.from(length < 24 ? [kind | length] : [kind | 25, length >> 8, length & 255]);
const cborText = (text: string) => Buffer.concat([head(0x60, text.length), Buffer.from(text)]);
const cborBytes = (bytes: Buffer) => Buffer.concat([head(0x40, bytes.length), bytes]);
const cborList = (items: readonly Buffer[]) => Buffer.concat([head(0x80, items.length), ...items]);
const cborMap = (members: Readonly<Record<string, Buffer>>) =>
  Buffer.concat([
    head(0xa0, Object.keys(members).length),
    ...Object.entries(members).flatMap(([name, value]) => [cborText(name), value]),
  ]);

describe('a passkey with certificates of its maker', { skip: opensslMissing }, () => {
  let world: World<Clock>;
  before(async () => {
    world = await startWorld(openAnyStore(), { clock: systemClock });
  });
  after(() => world.close());

  /** A certificate as Android makes it for a key and a challenge, and the one that it was made with. */
  function certify(key: KeyObject, challenge: Buffer, revocations: string): readonly Buffer[] {
    const folder = throwawayFolder();
    const openssl = (...args: string[]) =>
      execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    const write = (name: string, text: string | Buffer) =>
      writeFileSync(path.join(folder, name), text);
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    openssl('req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Maker');
    write('leaf.key', key.export({ type: 'pkcs8', format: 'pem' }));
    openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=Phone', '-out', 'leaf.csr');
    const description = `30340201030a01010201040a01010420${challenge.toString('hex')}040030003000`;
    const der = (description.match(/../g) ?? []).join(':');
    write(
      'leaf.cnf',
      `1.3.6.1.4.1.11129.2.1.17=DER:${der}\ncrlDistributionPoints=URI:${revocations}\n`,
    );
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'leaf.cnf'];
    openssl('x509', '-req', '-in', 'leaf.csr', ...by, '-out', 'leaf.pem');
    return ['leaf.pem', 'ca.pem'].map(
      (name) => new X509Certificate(readFileSync(path.join(folder, name))).raw,
    );
  }

  test('is not added, and nothing that the certificates name is fetched', async (t) => {
    let requests = 0;
    const named = createServer((_, response) => {
      requests += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    await once(named, 'listening');
    t.after(() => named.close());
    const { port } = named.address() as AddressInfo;

    const { visitor: signedIn, email } = await signedInOwner(world);
    const local = world.service.baseUrl.replace('127.0.0.1', 'localhost');
    const visitor = signedIn.at(local);
    await visitor.get('/app/account/factors');
    const asked = await visitor.post('/app/passkey-challenge', { use: 'create' });
    const { challenge } = JSON.parse(asked.text) as { challenge: string };
    const client = { type: 'webauthn.create', challenge, origin: local, crossOrigin: false };
    const clientData = Buffer.from(JSON.stringify(client));
    const { ES256 } = algorithms;
    const { publicKey, privateKey } = ES256.generate();
    const id = randomBytes(32);
    // User present and verified, with a key; no count, and a maker of zeros.
    const authenticator = Buffer.concat([
      sha256('localhost'),
      Buffer.from([0x45]),
      Buffer.alloc(4 + 16),
      Buffer.from([0, id.length]),
      id,
      ES256.cose(publicKey),
    ]);
    const hash = sha256(clientData);
    const certificates = certify(privateKey, hash, `http://127.0.0.1:${port}/internal`);
    const attestation = cborMap({
      fmt: cborText('android-key'),
      attStmt: cborMap({
        alg: Buffer.from([0x26]),
        sig: cborBytes(ES256.sign(Buffer.concat([authenticator, hash]), privateKey)),
        x5c: cborList(certificates.map(cborBytes)),
      }),
      authData: cborBytes(authenticator),
    });
    const page = await visitor.post('/app/account/factors/passkey', {
      name: 'Phone',
      passkey: JSON.stringify({
        id: id.toString('base64url'),
        rawId: id.toString('base64url'),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: clientData.toString('base64url'),
          attestationObject: attestation.toString('base64url'),
        },
      }),
    });
    assert.match(page.text, /The passkey was not added/);
    assert.equal(requests, 0);
    const { ownerId = '' } = (await findOwnerByEmail(world.store.write, email)) ?? {};
    assert.equal((await listFactors(world.store.write, ownerId)).length, 0);
  });
});
