import type { Log } from '../log/log.ts';
import type { Mailer, Message } from './mailer.ts';

type Letters = Message | readonly Message[] | undefined;

/**
 * Mail that is written and sent after its request was answered, so that no answer tells by its time whether there was
 * somebody to write to. What cannot be sent is logged, without addresses, and not tried again.
 */
export class Outbox {
  readonly #mailer: () => Pick<Mailer, 'send'> | undefined;
  readonly #log: Pick<Log, 'warn'>;
  readonly #sending = new Set<Promise<void>>();

  /** @param mailer undefined where no mail is sent */
  constructor(mailer: () => Pick<Mailer, 'send'> | undefined, log: Pick<Log, 'warn'>) {
    this.#mailer = mailer;
    this.#log = log;
  }

  /**
   * @param about what it is about, for the log
   * @param write returns nothing if there is no recipient
   */
  post(about: string, write: () => Promise<Letters>): void {
    const mailer = this.#mailer();
    if (!mailer) return;
    const sending = send(mailer, write)
      .catch((error: unknown) =>
        this.#log.warn({ about, ...codesOf(error) }, 'could not send mail'),
      )
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  /** Resolves once everything has been sent. */
  async settle(): Promise<void> {
    await Promise.all(this.#sending);
  }
}

async function send(mailer: Pick<Mailer, 'send'>, write: () => Promise<Letters>): Promise<void> {
  let failure: unknown;
  for (const message of [(await write()) ?? []].flat()) {
    await mailer.send(message).catch((error: unknown) => (failure ??= error));
  }
  // Not before the others are sent.
  if (failure !== undefined) throw failure;
}

/** What says why without naming anybody, which the reply of a mail server may do. */
function codesOf(error: unknown) {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  const { code, responseCode } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  return { code, responseCode };
}
