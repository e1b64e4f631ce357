import { type Actor, nameOf } from '../../acts.ts';
import { scopeDescriptions } from '../../access/scopes.ts';
import type { Message } from '../../mail/mailer.ts';
import type { Sql } from '../../store/database.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import { type Member, listMembers } from '../../store/owners/owners.ts';
import type { Shop } from '../../store/shops.ts';
import { letter } from '../account/letters.ts';
import { shopPath } from '../site.ts';

interface About {
  readonly shop: Pick<Shop, 'id' | 'name'>;
  /** Of the service. */
  readonly baseUrl: string;
}

/** Mail to a shop's owners that there is a new key, without the key. */
export async function newKeyLetters(
  sql: Sql,
  { shop, baseUrl }: About,
  key: Pick<KeyListing, 'name' | 'scopes' | 'networks' | 'expiresAt'>,
  { who, network }: Actor,
): Promise<Message[]> {
  const members = await listMembers(sql, shop.id);
  const people = new Map(members.map((member) => [`owner ${member.ownerId}`, member]));
  const from = network ? ` from the network ${network}` : '';
  const scopes = key.scopes.map((scope) => `${scopeDescriptions[scope]} (${scope})`);
  return ownersOf(members).map((to) =>
    letter(
      to,
      `${shop.name}: a new API key`,
      `The key “${key.name}” of ${shop.name} was created by ${nameOf(who, people)}${from}.`,
      `It reads ${scopes.join('; ')}.`,
      `It may be used from ${key.networks.join(', ') || 'everywhere'}, and ${
        key.expiresAt ? `expires at ${key.expiresAt.toISOString()}` : 'does not expire'
      }.`,
      'If you did not expect it, revoke it:',
      baseUrl + shopPath(shop, '/keys'),
    ),
  );
}

/** Mail to a shop's owners that a key was found in public, and is revoked. */
export async function leakedKeyLetters(
  sql: Sql,
  { shop, baseUrl }: About,
  name: string,
  place: string,
): Promise<Message[]> {
  return ownersOf(await listMembers(sql, shop.id)).map((to) =>
    letter(
      to,
      `${shop.name}: a leaked API key was revoked`,
      `GitHub found the key “${name}” of ${shop.name} in public, so it was revoked: requests with it are refused. It was found at:`,
      place,
      'Create another key for the programs that used it, and see what was asked with it:',
      baseUrl + shopPath(shop, '/keys'),
    ),
  );
}

/** The addresses of the members who manage keys. */
function ownersOf(members: readonly Member[]): string[] {
  return members.filter(({ role }) => role === 'owner').map(({ email }) => email);
}
