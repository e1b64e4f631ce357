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
export { type CallOptions, type EntitledOptions, Retention } from './retention.ts';
export type { EntitlementCacheOptions, RetentionOptions } from './settings.ts';
export type * from './types.ts';
