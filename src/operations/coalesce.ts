import type { Sql } from '../store/database.ts';

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

/** Longer texts are encoded once for all who share them: anew for each, that costs more than the rest of its answer. */
const maxText = 4000;

/** What a transport makes of a payload, such as the body of its answers. */
type Form = (text: string) => string;

/** A payload as JSON text. Several requests may share it. */
export class JsonText {
  readonly text: string;
  readonly #forms = new Map<Form, string | Buffer>();

  constructor(text: string) {
    this.text = text;
  }

  /** The payload in this form; as bytes if it is long and used again, since one answer is faster with a text. */
  as(form: Form): string | Buffer {
    const known = this.#forms.get(form);
    const isReused = typeof known === 'string' && known.length > maxText;
    const made = isReused ? Buffer.from(known) : (known ?? form(this.text));
    if (made !== known) this.#forms.set(form, made);
    return made;
  }
}
