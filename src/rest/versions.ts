import { type Answer, refuse } from '../http/answer.ts';
import { restBasePath } from '../operations/rest-path.ts';

/** A version of the REST API, and how far its retirement is. */
export interface RestVersion {
  readonly name: string;
  readonly basePath: string;
  /** Since or from when its use is discouraged: every response says so (RFC 9745). */
  readonly deprecatedAt?: Date;
  /** When it stops responding (RFC 8594); from then on every request gets 410. */
  readonly sunsetAt?: Date;
}

/** Every version there is. A retirement is announced by setting its dates here. */
export const restVersions: readonly RestVersion[] = [{ name: 'v1', basePath: restBasePath }];

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

/** @param now epoch milliseconds */
export function isRetired(version: RestVersion, now: number): boolean {
  return version.sunsetAt !== undefined && now >= version.sunsetAt.getTime();
}

/** What a version answers after its end, whatever is asked. */
export function gone(version: RestVersion): Answer {
  return withNotice(version, refuse(410, `REST ${version.name} is no longer available.`));
}

/** An answer with the headers of its version's retirement, where that is announced. */
export function withNotice(version: RestVersion, answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, ...retirementHeaders(version) } };
}

/** The version that a path belongs to. */
export function versionOf(versions: readonly RestVersion[], path: string): RestVersion | undefined {
  return versions.find(({ basePath }) => path === basePath || path.startsWith(`${basePath}/`));
}
