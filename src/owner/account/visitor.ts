import { browserOf } from '../../accounts/browsers.ts';
import { visitor } from '../../acts.ts';
import type { Visit } from '../site.ts';

/** Where a visitor comes from who is not signed in yet. */
export function visitorIn({ request, address, network, device }: Visit) {
  const browser = browserOf(request.headers['user-agent']);
  return { address, device, browser, by: visitor(network) };
}
