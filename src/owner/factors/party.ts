import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RelyingParty } from '../../accounts/factors/passkeys.ts';

interface Address {
  baseUrl(): string;
  readonly isPublic: boolean;
}

/** The service as a browser knows it, or why browsers make no passkeys for its address. */
export function partyOf(
  { protocol, host }: FastifyRequest,
  { baseUrl, isPublic }: Address,
): RelyingParty | string {
  // Without a public URL, the service may be reached under any name of the machine.
  const url = new URL(isPublic ? baseUrl() : `${protocol}://${host}`);
  const { hostname: id, origin, port } = url;
  if (id === 'localhost' || (url.protocol === 'https:' && isIP(id.replace(/[[\]]/g, '')) === 0)) {
    return { id, origin };
  }
  return /^(?:127\.|\[::1\]$)/.test(id)
    ? `Passkeys need a name in the address. Open this service as http://localhost:${port} to use them.`
    : 'Passkeys need an address with https and a host name. The operator of this service can set one up.';
}
