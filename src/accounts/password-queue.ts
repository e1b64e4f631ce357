import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';

/** Whether a sender has proven something: a browser that has signed in before, a session, or a link that we made. */
type Standing = 'known' | 'stranger';

export interface Sender {
  readonly standing: Standing;
  /** The client's network. */
  readonly network: string;
}

/** Too many passwords are waiting to be checked. */
export class TooBusy extends Error {
  override readonly name = 'TooBusy';
}

/** Allows checking one password, until the end of its scope. Counts as a failure of its network unless it succeeds. */
export interface Turn extends Disposable {
  /** Computes once a processor is free for it. */
  compute<T>(work: () => Promise<T>): Promise<T>;
  succeed(): void;
}

interface Limits {
  /** Passwords computed at once. */
  readonly computations: number;
  /** Turns at once; more than computations, so that none waits while the others ask the database. */
  readonly turns: number;
  /** Senders of each standing that may wait. */
  readonly maxWaiting: number;
  readonly maxWaitMilliseconds: number;
}

interface Waiting {
  readonly network: string;
  begin(): void;
  refuse(): void;
}

/** Networks whose failures are remembered. */
const maxNetworks = 10_000;

/**
 * Decides whose password is checked next: known senders first, then strangers from the networks that have failed
 * least, in the order of their arrival. So those who guess, however many, come after those who sign in.
 * docs/decisions/0023-signing-in.md
 */
export class PasswordQueue {
  readonly #limits: Limits;
  #turns = 0;
  #computations = 0;
  readonly #waiting: Readonly<Record<Standing, Waiting[]>> = { known: [], stranger: [] };
  readonly #computing: (() => void)[] = [];
  /** Failures that no success made up for, of each network that has any. */
  readonly #failures = new Map<string, number>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @throws TooBusy if too many are waiting, or for too long */
  async turn(sender: Sender): Promise<Turn> {
    if (this.#turns < this.#limits.turns) this.#turns += 1;
    else await this.#wait(sender);
    let failures = 1;
    return {
      compute: (work) => this.#compute(work),
      succeed: () => {
        failures = -1;
      },
      [Symbol.dispose]: () => {
        this.#addFailures(sender.network, failures);
        this.#beginNext();
      },
    };
  }

  async #wait({ standing, network }: Sender): Promise<void> {
    const { maxWaiting, maxWaitMilliseconds } = this.#limits;
    const queue = this.#waiting[standing];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { network, begin: resolve, refuse: () => reject(new TooBusy()) };
    queue.push(waiting);
    if (queue.length > maxWaiting) remove(queue, this.#worstOf(queue))?.refuse();
    const timer = setTimeout(() => remove(queue, waiting)?.refuse(), maxWaitMilliseconds).unref();
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #beginNext(): void {
    const { known, stranger } = this.#waiting;
    const queue = known.length > 0 ? known : stranger;
    const next = queue.reduce<Waiting | undefined>(
      (best, each) => (best && this.#failuresOf(best) <= this.#failuresOf(each) ? best : each),
      undefined,
    );
    if (next) remove(queue, next)?.begin();
    else this.#turns -= 1;
  }

  /** The last one from the network that has failed most, or of such networks has most in the queue. */
  #worstOf(queue: readonly Waiting[]): Waiting | undefined {
    const counts = new Map<string, number>();
    for (const { network } of queue) counts.set(network, (counts.get(network) ?? 0) + 1);
    const countOf = ({ network }: Waiting) => counts.get(network) ?? 0;
    return queue
      .toSorted((a, b) => this.#failuresOf(a) - this.#failuresOf(b) || countOf(a) - countOf(b))
      .at(-1);
  }

  async #compute<T>(work: () => Promise<T>): Promise<T> {
    if (this.#computations < this.#limits.computations) this.#computations += 1;
    else await new Promise<void>((resolve) => this.#computing.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#computing.shift();
      if (next) next();
      else this.#computations -= 1;
    }
  }

  #failuresOf({ network }: Pick<Waiting, 'network'>): number {
    return this.#failures.get(network) ?? 0;
  }

  #addFailures(network: string, failures: number): void {
    const sum = this.#failuresOf({ network }) + failures;
    this.#failures.delete(network);
    if (sum > 0) this.#failures.set(network, sum);
    const [oldest] = this.#failures.keys();
    if (oldest !== undefined && this.#failures.size > maxNetworks) this.#failures.delete(oldest);
  }
}

/** Takes an element out of a list. @returns undefined if it is not in it */
function remove<T>(list: T[], element: T | undefined): T | undefined {
  const index = element === undefined ? -1 : list.indexOf(element);
  return index === -1 ? undefined : list.splice(index, 1)[0];
}

// Each computation takes a thread, of which bin/retention makes enough, and 19 MiB. Workers share the processors.
const computations = Math.min(availableParallelism(), cluster.isWorker ? 2 : 8);

/** The queue of this process. A wait ends before proxies give up, which most do after 60 seconds. */
export const passwordQueue = new PasswordQueue({
  computations,
  turns: computations + 6,
  maxWaiting: 1000,
  maxWaitMilliseconds: 50_000,
});
