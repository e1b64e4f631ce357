import { pino } from 'pino';

/** The structured log: one JSON object a line. */
export type Log = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'flush'>;

const apiKey = /rtn_[A-Za-z0-9_-]{8,}/g;
/** Up to the last @, since not everybody encodes the one in their password. */
const passwordInUrl = /(\w+:\/\/[^:@/\s"]*):[^/\s"]+@/g;

/** Makes any text safe to log: API keys and passwords inside connection addresses are taken out. */
export function redact(line: string): string {
  return line.includes('rtn_') || line.includes('://')
    ? line.replace(apiKey, 'rtn_[redacted]').replace(passwordInUrl, '$1:[redacted]@')
    : line;
}

/**
 * @param level the least severe level that is written
 * @param destination where lines go; standard error by default, since standard output is for results
 */
export function createLog(level: string, destination?: pino.DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: redact },
    },
    // Buffered: a write per request would cost more than the request's own work.
    destination ?? pino.destination({ fd: 2, sync: false, minLength: 16_000, periodicFlush: 500 }),
  );
}
