import type { FastifyRequest } from 'fastify';
import { clientNetwork } from '../access/client-network.ts';
import type { Answer } from './answer.ts';
import { type Body, readBody } from './body.ts';

/**
 * 1 MiB in this time is 1.7 Mbit/s, and platforms give up after as long. Whoever sends without a secret can hold a
 * place for no longer.
 */
const arrivalMilliseconds = 5_000;
/** Of the names below. Only signed bodies add to them. */
const maxRemembered = 10_000;

interface Rules {
  /** Undefined if any is taken. */
  readonly contentType: string | undefined;
  /** Of one body. A connection receives one at a time. */
  readonly maxBytes: number;
  /** Of all bodies together. */
  readonly totalBytes: number;
  /** Whether strangers cannot know what senders are called. */
  readonly hasSecretNames: boolean;
  /** The answer if there is no room. */
  refuse(headers: Readonly<Record<string, string>>): Answer;
  /** Shortened by tests only. */
  readonly arrivalMilliseconds?: number;
}

interface Share {
  readonly name: string;
  readonly maxBytes: number;
}

/**
 * Receives bodies whose signatures cannot be checked before their end. All together take a bounded amount of memory.
 * Strangers have half of it, with room for several networks. The rest is for senders whose last signature was right,
 * and a quarter only for those in the network that it came from.
 */
export class UnverifiedBodies {
  readonly #rules: Rules;
  /** Bytes in memory, by share. */
  readonly #held = new Map<string, number>();
  /** Names whose last signature was right, oldest first. */
  readonly #right = new Set<string>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  /** Bytes in memory. */
  get heldBytes(): number {
    return this.#held.get('all') ?? 0;
  }

  /** Whether a sender's last signature was right. */
  trusts(request: FastifyRequest, sender: string): boolean {
    return this.#namesOf(request, sender).some((name) => this.#right.has(name));
  }

  /**
   * Receives a body that is said to be a sender's.
   * @returns undefined if it is not signed
   */
  async read(
    request: FastifyRequest,
    sender: string,
    isSigned: (body: Buffer) => boolean,
  ): Promise<Body | undefined> {
    const { contentType, maxBytes } = this.#rules;
    const full = this.#rules.refuse({ connection: 'close' });
    const names = this.#namesOf(request, sender);
    const choices = this.#sharesOf(names, clientNetwork(request.ip));
    const taken: { readonly shares: readonly Share[]; readonly bytes: number }[] = [];
    let held = 0;
    try {
      const body = await readBody(request, {
        contentType,
        maxBytes,
        arrivalMilliseconds: this.#rules.arrivalMilliseconds ?? arrivalMilliseconds,
        hold: (total) => {
          const bytes = total - held;
          const shares = choices.find((each) => this.#hasRoom(each, bytes));
          if (!shares) return full;
          this.#add(shares, bytes);
          taken.push({ shares, bytes });
          held = total;
          return undefined;
        },
      });
      if ('refusal' in body && body.refusal === full) return body;
      const isRight = 'bytes' in body && isSigned(body.bytes);
      this.#note(names, isRight);
      return 'refusal' in body || isRight ? body : undefined;
    } finally {
      for (const { shares, bytes } of taken) this.#add(shares, -bytes);
    }
  }

  /**
   * What a right signature speaks for: the sender in its network, which nobody elsewhere can spoil; and what strangers
   * cannot choose, so that a sender with many addresses is known from the first.
   */
  #namesOf(request: FastifyRequest, sender: string): readonly [narrow: string, wide: string] {
    const network = clientNetwork(request.ip);
    return [`${sender} in ${network}`, this.#rules.hasSecretNames ? sender : network];
  }

  /** Sets of shares that a body may count against, the best first. */
  #sharesOf([narrow, wide]: readonly [string, string], network: string): Share[][] {
    const part = (name: string, portion: number) => ({
      name,
      maxBytes: portion * this.#rules.totalBytes,
    });
    const [all, others, strangers] = [part('all', 1), part('others', 0.75), part('strangers', 0.5)];
    const usual = [all, others, strangers, part(`network ${network}`, 0.25)];
    if (this.#right.has(narrow)) return [[all, part(`narrow ${narrow}`, 0.25)], usual];
    if (this.#right.has(wide)) return [[all, others, part(`wide ${wide}`, 0.25)], usual];
    return [usual];
  }

  #hasRoom(shares: readonly Share[], bytes: number): boolean {
    return shares.every(({ name, maxBytes }) => (this.#held.get(name) ?? 0) + bytes <= maxBytes);
  }

  #add(shares: readonly Share[], bytes: number): void {
    for (const { name } of shares) {
      const sum = (this.#held.get(name) ?? 0) + bytes;
      if (sum === 0) this.#held.delete(name);
      else this.#held.set(name, sum);
    }
  }

  #note(names: readonly string[], isRight: boolean): void {
    for (const name of names) {
      this.#right.delete(name);
      if (isRight) this.#right.add(name);
    }
    for (const oldest of this.#right) {
      if (this.#right.size <= maxRemembered) return;
      this.#right.delete(oldest);
    }
  }
}
