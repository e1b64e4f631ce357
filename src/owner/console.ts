import type { FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/client-network.ts';
import { openSession } from '../accounts/sessions.ts';
import { type OwnerParts, listShopsOf } from './pages.ts';
import { shopPath } from './ui/layout.ts';
import { cookieName, parseSecret, readCookies } from './visit.ts';

type Parts = Pick<OwnerParts, 'store' | 'log' | 'accounts' | 'baseUrl'>;

/**
 * Finds the path of the page that runs requests, for a request by an owner who is signed in. Without a
 * session, and while sessions cannot be read, there is none.
 */
export function createConsoleFinder({ store, log, accounts, baseUrl }: Parts) {
  return async ({ id, headers, ip }: FastifyRequest): Promise<string | undefined> => {
    const name = cookieName('session', baseUrl().startsWith('https:'));
    const secret = parseSecret(readCookies(headers.cookie).get(name));
    if (secret === undefined) return undefined;
    try {
      const session = await openSession(accounts, secret, clientNetwork(ip));
      const [shop, ...others] = session ? await listShopsOf(store, session.ownerId) : [];
      return shop && (others.length === 0 ? shopPath(shop, '/developers') : '/app/shops');
    } catch (error) {
      log.warn({ requestId: id, err: error }, 'documentation shown as to a visitor');
      return undefined;
    }
  };
}
