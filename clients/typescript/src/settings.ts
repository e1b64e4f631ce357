import type { Hooks, Sender } from './request.ts';

export interface EntitlementCacheOptions {
  /** How old an answer may be, at most. 60 by default. */
  readonly maxAgeSeconds?: number;
  /** How old an answer that a customer is not entitled may be; 5 by default, because they may just be buying. */
  readonly refusalMaxAgeSeconds?: number;
  /** How long an answer holds while the service cannot be reached, unless a paid period lasts longer. 3,600 by default. */
  readonly graceSeconds?: number;
  /** Customers whose answers are kept; the least recently used go first. 10,000 by default. */
  readonly maxCustomers?: number;
}

export interface RetentionOptions {
  /** The service's root, such as https://retention.example. */
  readonly baseUrl: string;
  /** An API key of the shop, `rtn_…`. It belongs on servers only. Undefined is refused when the program starts. */
  readonly key: string | undefined;
  /** How long an attempt may take, until the end of the answer. 10,000 by default. */
  readonly timeoutMs?: number;
  /**
   * How long a call may take, with its attempts and the waits between them. By default 2,000 for `entitled`, because
   * somebody waits for it, and unlimited for the others.
   */
  readonly deadlineMs?: number;
  /** Attempts after the first, if it fails in a way that may pass. 3 by default. */
  readonly maxRetries?: number;
  /** How `entitled` keeps answers. */
  readonly cache?: EntitlementCacheOptions;
  readonly hooks?: Hooks;
  /** Sends the requests; the runtime's own by default. */
  readonly fetch?: typeof fetch;
}

interface NumberRule {
  readonly isAllowed: (value: number) => boolean;
  readonly must: string;
}

const isAge: NumberRule = {
  isAllowed: (value) => Number.isFinite(value) && value >= 0,
  must: 'a number, 0 or more',
};

/** What the numbers among the options may be. */
const numbers = {
  // A timer takes no more; it would fire at once.
  timeoutMs: {
    isAllowed: (value) => value > 0 && value < 2 ** 31,
    must: 'more than 0 and less than 2^31',
  },
  deadlineMs: {
    isAllowed: (value) => (value > 0 && value < 2 ** 31) || value === Infinity,
    must: 'more than 0 and less than 2^31, or Infinity',
  },
  maxRetries: {
    isAllowed: (value) => Number.isSafeInteger(value) && value >= 0,
    must: 'a whole number, 0 or more',
  },
  limit: {
    isAllowed: (value) => (Number.isSafeInteger(value) && value >= 1) || value === Infinity,
    must: 'a whole number, 1 or more, or Infinity',
  },
  'cache.maxAgeSeconds': isAge,
  'cache.refusalMaxAgeSeconds': isAge,
  'cache.graceSeconds': isAge,
  'cache.maxCustomers': {
    isAllowed: (value) => Number.isSafeInteger(value) && value >= 1,
    must: 'a whole number, 1 or more',
  },
} satisfies Record<string, NumberRule>;

/** @throws TypeError if the option cannot have the value */
export function numberOption(name: keyof typeof numbers, value: number): number {
  const { isAllowed, must } = numbers[name];
  if (typeof value === 'number' && isAllowed(value)) return value;
  throw new TypeError(`${name} must be ${must}; it is ${String(value)}.`);
}

/** @throws TypeError for options that cannot work */
export function toSender(options: RetentionOptions): Sender {
  const { key, hooks = {} } = options;
  const baseUrl = baseUrlOf(options.baseUrl);
  // Never quoted: it is a secret.
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError('key must be an API key such as rtn_…. Is its environment variable set?');
  }
  return {
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    baseUrl,
    key,
    timeoutMs: numberOption('timeoutMs', options.timeoutMs ?? 10_000),
    deadlineMs: numberOption('deadlineMs', options.deadlineMs ?? Infinity),
    entitledDeadlineMs: options.deadlineMs ?? 2_000,
    maxRetries: numberOption('maxRetries', options.maxRetries ?? 3),
    hooks,
  };
}

function baseUrlOf(text: string): string {
  const must = "baseUrl must be the service's address, such as https://retention.example";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Not quoted: there may be a password in it.
  if (String(text).includes('@')) throw new TypeError(`${must}, without a name or a password.`);
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '') {
    throw new TypeError(`${must}; it is ${JSON.stringify(text)}.`);
  }
  const root = url.href.replace(/\/+$/, '');
  if (/\/api\/external(\/v1)?$/.test(root)) {
    throw new TypeError(`${must}. Leave out /api/external/v1: the client adds it.`);
  }
  return root;
}
