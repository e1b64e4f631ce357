import type { Operation } from './define.ts';
import { operations } from './index.ts';

/** A version of the REST API: its operations, its paths and its retirement. */
export interface RestVersion {
  readonly name: `v${number}`;
  /** The operations' paths are relative to this. */
  readonly basePath: string;
  readonly operations: readonly Operation[];
  /** Permanent paths outside the version, by the operation's path. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** When it is (or was) deprecated; every response announces this (RFC 9745). */
  readonly deprecatedAt?: Date;
  /** When it is switched off (RFC 8594): every request gets 410 from then on. */
  readonly sunsetAt?: Date;
}

export const restV1: RestVersion = {
  name: 'v1',
  basePath: '/api/external/v1',
  operations,
  aliases: { '/entitlements': '/api/external/entitlements' },
};

/** All versions, the current one first. To announce a retirement, set the dates of the version. */
export const restVersions: readonly RestVersion[] = [restV1];
