export type { EntitlementCacheOptions } from './entitlement-cache.ts';
export {
  AuthenticationError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RetentionError,
  TimeoutError,
  UnavailableError,
} from './errors.ts';
export { customerIdOf } from './ids.ts';
export type { Listing, Page } from './pages.ts';
export type { Hooks, RequestInfo, ResponseInfo } from './request.ts';
export {
  type CallOptions,
  type EntitledOptions,
  Retention,
  type RetentionOptions,
} from './retention.ts';
export type * from './types.ts';
