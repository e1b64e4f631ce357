import type { Clock } from '../clock.ts';
import { type Answer, type AnswerBody, refuse } from '../http/answer.ts';
import type { Route } from '../http/shell.ts';
import type { RestVersion } from '../operations/versions.ts';

/**
 * The headers that announce a version's retirement.
 * @see RFC 9745 section 2.1 (Deprecation: @ and seconds), RFC 8594 section 3 (Sunset: an HTTP-date)
 */
function retirementHeaders(version: RestVersion): Record<string, string> {
  const { deprecatedAt, sunsetAt } = version;
  return {
    ...(deprecatedAt && { deprecation: `@${Math.floor(deprecatedAt.getTime() / 1000)}` }),
    ...(sunsetAt && { sunset: sunsetAt.toUTCString() }),
  };
}

interface WindDown {
  /** Wraps the routes so that they announce and enforce the retirement of their version. */
  routes(routes: readonly Route[]): Route[];
  /** The same for the response to a path without a route. */
  unrouted(path: string, answer: Answer): Answer;
}

/** Announces the retirement of a version on all its responses, and responds 410 after its sunset. */
export function createWindDown(versions: readonly RestVersion[], clock: Clock): WindDown {
  const isRetired = ({ sunsetAt }: RestVersion) =>
    sunsetAt !== undefined && clock.now() >= sunsetAt.getTime();

  return {
    routes: (routes) =>
      routes.map((route) => {
        const version = versionOf(versions, route.url);
        if (!version?.deprecatedAt && !version?.sunsetAt) return route;
        return {
          ...route,
          handle: async (request, span) =>
            isRetired(version)
              ? gone(version)
              : withNotice(version, await route.handle(request, span)),
        };
      }),
    unrouted(path, answer) {
      const version = versionOf(versions, path);
      if (!version) return answer;
      return isRetired(version) ? gone(version) : withNotice(version, answer);
    },
  };
}

function gone(version: RestVersion): Answer {
  return withNotice(version, refuse(410, `REST ${version.name} is no longer available.`));
}

function withNotice<Sent extends AnswerBody>(
  version: RestVersion,
  answer: Answer<Sent>,
): Answer<Sent> {
  return { ...answer, headers: { ...answer.headers, ...retirementHeaders(version) } };
}

/** The version that a path belongs to, by its base path or as an alias. */
function versionOf(versions: readonly RestVersion[], path: string): RestVersion | undefined {
  return versions.find(
    ({ basePath, aliases = {} }) =>
      path === basePath || path.startsWith(`${basePath}/`) || Object.values(aliases).includes(path),
  );
}
