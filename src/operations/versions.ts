import type { Operation } from './define.ts';
import { operations } from './index.ts';

/** A version of the REST API: what it offers, where, and how far its retirement is. */
export interface RestVersion {
  readonly name: `v${number}`;
  /** The paths of the operations follow. */
  readonly basePath: string;
  readonly operations: readonly Operation[];
  /** Operations that are also reached without a version, for ever: path below the base, whole path. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Since or from when its use is discouraged: every response says so (RFC 9745). */
  readonly deprecatedAt?: Date;
  /** When it stops responding (RFC 8594); from then on every request gets 410. */
  readonly sunsetAt?: Date;
}

export const restV1: RestVersion = {
  name: 'v1',
  basePath: '/api/external/v1',
  operations,
  aliases: { '/entitlements': '/api/external/entitlements' },
};

/** Every version there is, the current one first. A retirement is announced by setting its dates here. */
export const restVersions: readonly RestVersion[] = [restV1];
