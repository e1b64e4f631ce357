import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Clock } from '../../clock.ts';
import { type JsonObject, isObject, parseJson } from '../../json.ts';
import type { Sql } from '../../store/database.ts';
import {
  type Factor,
  findPasskey,
  insertChallenge,
  raiseCounter,
  takeChallenge,
} from '../../store/owners/factors.ts';
import { fingerprint, newSecret } from '../sessions.ts';
import { stepEnd, stepMinutes } from './second-step.ts';

/** The service as browsers know it: a passkey works for no other. */
export interface RelyingParty {
  /** A host name. */
  readonly id: string;
  readonly origin: string;
}

/** The browser that is asked for a passkey. */
export interface PasskeyBrowser {
  readonly party: RelyingParty;
  /** A secret that the browser has, to which the challenge is bound. */
  readonly secret: string;
}

type Parts = { readonly sql: Sql; readonly clock: Clock };
type Use = 'create' | 'get';

// Loading the library takes 300 ms, which a service without passkeys need not wait for.
const library = () => import('@simplewebauthn/server');

const hashOf = (use: Use, { secret }: PasskeyBrowser, challenge: string) =>
  fingerprint(`${use} passkey ${secret} ${challenge}`);

async function createChallenge({ sql, clock }: Parts, use: Use, browser: PasskeyBrowser) {
  const challenge = newSecret();
  const tokenHash = hashOf(use, browser, challenge);
  const now = clock.now();
  await insertChallenge(sql, { tokenHash, ownerId: null, expiresAt: stepEnd(now) }, new Date(now));
  return { challenge: Buffer.from(challenge, 'base64url'), timeout: stepMinutes * 60_000 };
}

/** Uses up the challenge that a browser answers. @returns undefined if it is not one that we have made for it */
async function takeChallengeIn<Response extends RegistrationResponseJSON>(
  { sql, clock }: Parts,
  use: Use,
  browser: PasskeyBrowser,
  text: string,
): Promise<{ readonly response: Response; readonly challenge: string } | undefined> {
  const response = parse(text);
  const data = isObject(response?.['response']) ? response['response']['clientDataJSON'] : '';
  const challenge = parse(Buffer.from(String(data), 'base64url').toString('utf8'))?.['challenge'];
  if (typeof challenge !== 'string' || typeof response?.['id'] !== 'string') return undefined;
  const isOurs = await takeChallenge(sql, hashOf(use, browser, challenge), new Date(clock.now()));
  return isOurs ? { response: response as unknown as Response, challenge } : undefined;
}

function parse(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

type KnownPasskey = Pick<Factor, 'credentialId'>;

const listed = (passkeys: readonly KnownPasskey[]) =>
  passkeys.flatMap(({ credentialId: id }) => (id === null ? [] : [{ id }]));

/** What a browser needs to make a passkey. @param known those that the owner has */
export async function creationOptions(
  parts: Parts,
  browser: PasskeyBrowser,
  owner: { readonly ownerId: string; readonly email: string },
  known: readonly KnownPasskey[],
) {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    ...(await createChallenge(parts, 'create', browser)),
    rpName: 'Retention',
    rpID: browser.party.id,
    userName: owner.email,
    userID: Buffer.from(owner.ownerId),
    excludeCredentials: listed(known),
    // It is found without an address, and asks for a fingerprint or a PIN: so it is two factors in one.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** What a browser needs to use a passkey. @param known those that it may use; any if there are none */
export async function requestOptions(
  parts: Parts,
  browser: PasskeyBrowser,
  known: readonly KnownPasskey[] = [],
) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    ...(await createChallenge(parts, 'get', browser)),
    rpID: browser.party.id,
    userVerification: 'required',
    allowCredentials: listed(known),
  });
}

/** The passkey that a browser has made. @returns undefined if its answer is not valid */
export async function verifyCreation(
  parts: Parts,
  browser: PasskeyBrowser,
  text: string,
): Promise<Pick<Factor, 'credentialId' | 'key' | 'counter'> | undefined> {
  const answer = await takeChallengeIn(parts, 'create', browser, text);
  if (!answer || !(await attestsNothing(answer.response).catch(() => false))) return undefined;
  const { verifyRegistrationResponse } = await library();
  const { party } = browser;
  const result = await verifyRegistrationResponse({
    response: answer.response,
    expectedChallenge: answer.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
  }).catch(invalid);
  if (!result.verified) return undefined;
  const { id, publicKey, counter } = result.registrationInfo.credential;
  const key = Buffer.from(publicKey).toString('base64');
  return { credentialId: id, key, counter };
}

/**
 * Whether an answer has no certificates. Browsers send none unasked, and the library would fetch any address that
 * forged ones name.
 */
async function attestsNothing({ response }: RegistrationResponseJSON): Promise<boolean> {
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers');
  // As the library decodes it: another decoder could be made to see another answer.
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject));
  const format = attestation.get('fmt');
  const isBySelf = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  return format === 'none' || isBySelf;
}

/**
 * Whose passkey a browser has used.
 * @param failed called with the owner of a passkey that did not sign the answer, or was copied
 * @returns undefined if the answer is not valid
 */
export async function verifyUse(
  parts: Parts,
  browser: PasskeyBrowser,
  text: string,
  failed: (ownerId: string) => Promise<void> = async () => {},
): Promise<Factor | undefined> {
  const answer = await takeChallengeIn<AuthenticationResponseJSON & RegistrationResponseJSON>(
    parts,
    'get',
    browser,
    text,
  );
  const passkey = answer && (await findPasskey(parts.sql, answer.response.id));
  if (!passkey) return undefined;
  const { verifyAuthenticationResponse } = await library();
  const { party } = browser;
  const result = await verifyAuthenticationResponse({
    response: answer.response,
    expectedChallenge: answer.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: {
      id: answer.response.id,
      publicKey: new Uint8Array(Buffer.from(passkey.key, 'base64')),
      // A lower count than last time means that the authenticator was copied.
      counter: passkey.counter,
    },
  }).catch(invalid);
  const at = new Date(parts.clock.now());
  const isValid =
    result.verified &&
    (await raiseCounter(parts.sql, passkey, result.authenticationInfo.newCounter, at));
  if (isValid) return passkey;
  await failed(passkey.ownerId);
  return undefined;
}

/** The library throws what is wrong with an answer; but a wrong signature, it returns as not verified. */
const invalid = () => ({ verified: false }) as const;
