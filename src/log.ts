import { pino } from 'pino';
import { openStandardError } from './log-stream.ts';

/** The structured log: one JSON object a line. */
export interface Log extends Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'flush'> {
  /** The line of one answered request, at level info. */
  request(entry: RequestEntry): void;
}

/** What is logged of every request: words and numbers of ours only, nothing that a caller wrote. */
export interface RequestEntry {
  readonly requestId: string;
  readonly method: string;
  /** The route that was taken; undefined where none fits. */
  readonly route: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  /** Of the trace that the request belongs to: 32 hexadecimal digits. */
  readonly traceId?: string | undefined;
  readonly shopId?: number;
  readonly keyId?: string;
  readonly operation?: string;
  /** Of MCP. */
  readonly revision?: string;
  /** The method of a message, or what was wrong with it. */
  readonly mcp?: string;
}

const apiKey = /rtn_[A-Za-z0-9_-]{8,}/g;
/** Up to the last @, since not everybody encodes the one in their password. */
const passwordInUrl = /(\w+:\/\/[^:@/\s"]*):[^/\s"]+@/g;

/** Of Shopify: access tokens of apps, their secrets. */
const shopifyToken = /\bshp[a-z]{2,3}_[\w-]{8,}/g;

/**
 * Makes any text safe to log: API keys, Shopify's tokens, and passwords inside connection addresses
 * are taken out.
 */
export function redact(line: string): string {
  return line.includes('rtn_') || line.includes('://') || line.includes('shp')
    ? line
        .replace(apiKey, 'rtn_[redacted]')
        .replace(passwordInUrl, '$1:[redacted]@')
        .replace(shopifyToken, 'shp_[redacted]')
    : line;
}

/**
 * @param level the least severe level that is written
 * @param destination where lines go; standard error by default, since standard output is for results
 */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
  const stream = destination ?? openStandardError();
  const log = pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redact },
    },
    stream,
  );
  const writesRequests = log.isLevelEnabled('info');
  let lines = '';
  const writeLines = () => {
    stream.write(lines);
    lines = '';
  };
  return Object.assign(log, {
    request(entry: RequestEntry) {
      if (!writesRequests) return;
      // Those of one turn of the event loop at once: to hand over a line costs more than to write it.
      if (lines === '') setImmediate(writeLines);
      lines += requestLine(entry);
    },
  });
}

/**
 * As pino would write it, at a third of the cost: there is nothing to escape or to take out in what
 * is known to be ours.
 */
function requestLine(entry: RequestEntry): string {
  const { traceId, shopId, keyId, operation, revision, mcp } = entry;
  return (
    `{"level":"info","time":${Date.now()},"requestId":"${entry.requestId}","method":"${entry.method}"` +
    (traceId === undefined ? '' : `,"traceId":"${traceId}"`) +
    (entry.route === undefined ? '' : `,"route":"${entry.route}"`) +
    `,"status":${entry.status},"durationMs":${entry.durationMs}` +
    (shopId === undefined ? '' : `,"shopId":${shopId},"keyId":"${keyId}"`) +
    (revision === undefined ? '' : `,"revision":"${revision}"`) +
    (mcp === undefined ? '' : `,"mcp":"${mcp}"`) +
    (operation === undefined ? '' : `,"operation":"${operation}"`) +
    ',"msg":"request"}\n'
  );
}
