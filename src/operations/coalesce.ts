import type { Sql } from '../store/database.ts';
import type { JsonText } from './json-text.ts';

/** The run in progress, and the one after it once a request waits for it. */
interface Runs {
  readonly current: Promise<JsonText>;
  next: Promise<JsonText> | undefined;
}

const runsOf = new WeakMap<Sql, Map<string, Runs>>();

/**
 * Runs work with the same key once at a time. Requests that come meanwhile share the next run, which begins after
 * they came, so an answer is never older than its request (docs/decisions/0019-requests-and-answers.md).
 * @param key the shop, and everything else that the answer depends on, besides the time
 */
export function coalesce(sql: Sql, key: string, work: () => Promise<JsonText>): Promise<JsonText> {
  const runs = runsOf.getOrInsertComputed(sql, () => new Map<string, Runs>());
  const begin = () => {
    const own: Runs = { current: work(), next: undefined };
    runs.set(key, own);
    // Attached first, so before a next run begins.
    const end = () => void runs.delete(key);
    own.current.then(end, end);
    return own.current;
  };
  const running = runs.get(key);
  if (!running) return begin();
  running.next ??= running.current.then(begin, begin);
  return running.next;
}
