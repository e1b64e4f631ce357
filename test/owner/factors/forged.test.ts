import assert from 'node:assert/strict';
import { type KeyObject, createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type Clock, systemClock } from '../../../src/clock.ts';
import { findOwnerByEmail } from '../../../src/store/owners/owners.ts';
import { insertFactor, listFactors } from '../../../src/store/owners/factors.ts';
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
