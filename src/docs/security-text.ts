import type { Clock } from '../clock.ts';
import type { Route } from '../http/shell.ts';

const dayMilliseconds = 86_400_000;
/** RFC 9116 recommends less than a year. */
const validDays = 180;

interface Parts {
  readonly clock: Clock;
  /** The public URL. */
  readonly baseUrl: string;
  /** An address for reports, `mailto:` or `https:`; undefined for the mailbox that RFC 2142 names. */
  readonly contact: string | undefined;
}

/** Says where to report vulnerabilities, in the form of RFC 9116. */
export function securityTextRoute({ clock, baseUrl, contact }: Parts): Route {
  const path = '/.well-known/security.txt';
  return {
    method: 'GET',
    url: path,
    handle: async () => {
      // The same for a day, so that caches agree.
      const today = Math.floor(clock.now() / dayMilliseconds);
      const expires = new Date((today + validDays) * dayMilliseconds).toISOString();
      const lines = [
        `Contact: ${contact ?? `mailto:security@${new URL(baseUrl).hostname}`}`,
        `Expires: ${expires}`,
        'Preferred-Languages: en',
        `Canonical: ${baseUrl}${path}`,
      ];
      return {
        status: 200,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          'cache-control': 'public, max-age=3600',
        },
        body: `${lines.join('\n')}\n`,
      };
    },
  };
}
