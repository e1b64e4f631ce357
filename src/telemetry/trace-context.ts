/** The content of a caller's `traceparent` header. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Later versions may append more after the flags; ff is not a valid version. */
const form =
  /^(?:00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})|(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?)$/;
const noId = /^0+$/;

/**
 * Reads a `traceparent` header.
 * @returns undefined if it is missing or invalid
 * @see W3C Trace Context, section 3.2
 */
export function parseTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  if (typeof header !== 'string') return undefined;
  const match = form.exec(header);
  if (!match) return undefined;
  const traceId = (match[1] ?? match[4]) as string;
  const spanId = (match[2] ?? match[5]) as string;
  if (noId.test(traceId) || noId.test(spanId)) return undefined;
  const flags = Number.parseInt((match[3] ?? match[6]) as string, 16);
  return { traceId, spanId, isSampled: (flags & 1) === 1 };
}
