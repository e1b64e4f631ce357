import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Argon2id as OWASP recommends it: KiB of memory, passes, lanes; takes about 50 ms. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;
const derive = promisify(argon2);

/** Each computation uses a processor and 19 MiB; API requests must still be served. */
const maxConcurrent = 2;
/** Passwords of each kind of sender that are checked at once or wait for it. */
const maxPlaces = 22;

/** Whether a sender has proven something: a browser that has signed in before, a session, or a link of ours. */
export type Standing = 'known' | 'stranger';

/** Too many passwords are waiting to be checked. */
export class TooBusy extends Error {
  override readonly name = 'TooBusy';
}

let running = 0;
const taken: Record<Standing, number> = { known: 0, stranger: 0 };
const waiting: Record<Standing, (() => void)[]> = { known: [], stranger: [] };

/**
 * A place among the passwords that are being checked, given up at the end of its scope. Known senders have places of their
 * own and come first, so that however many strangers guess, they keep nobody out who has been in before.
 */
export class Place implements Disposable {
  readonly #standing: Standing;

  /** @throws TooBusy if all places are taken */
  constructor(standing: Standing) {
    if (taken[standing] >= maxPlaces) throw new TooBusy();
    taken[standing] += 1;
    this.#standing = standing;
  }

  /** Computes when it is this place's turn. */
  async compute<T>(work: () => Promise<T>): Promise<T> {
    if (running < maxConcurrent) running += 1;
    else await new Promise<void>((resolve) => waiting[this.#standing].push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.known.shift() ?? waiting.stranger.shift();
      if (next) next();
      else running -= 1;
    }
  }

  [Symbol.dispose](): void {
    taken[this.#standing] -= 1;
  }
}

function tagOf(password: string, nonce: Buffer, { memory, passes, parallelism } = cost) {
  // Keyboards may enter the same text as different code points.
  const message = password.normalize('NFKC');
  return derive('argon2id', { message, nonce, memory, passes, parallelism, tagLength });
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/**
 * Hashes the new password of someone who may set it. The result is a PHC string, which contains the algorithm and its
 * cost.
 * @throws TooBusy
 */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  using place = new Place('known');
  const tag = await place.compute(() => tagOf(password, nonce));
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;
/** Matches no password, since none has a tag of zeros. */
const dummyHash = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Whether a password matches a hash. Without a hash it returns false after the same work. */
export async function verifyPassword(
  place: Place,
  hash: string | null,
  password: string,
): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = form.exec(hash ?? dummyHash) ?? [];
  const stored = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  };
  const found = await place.compute(() =>
    tagOf(password, Buffer.from(nonce, 'base64'), stored as typeof cost),
  );
  return timingSafeEqual(found, Buffer.from(tag, 'base64')) && hash !== null;
}
