import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Argon2id as OWASP recommends it: KiB of memory, passes, lanes; takes about 50 ms. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;
const derive = promisify(argon2);

/** Each computation uses a processor and 19 MiB; API requests must still be served. */
const maxConcurrent = 2;
const maxWaiting = 20;

/** Too many passwords are waiting to be checked. */
export class TooBusy extends Error {
  override readonly name = 'TooBusy';
}

let running = 0;
const waiting: (() => void)[] = [];

async function withSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running >= maxConcurrent) {
    if (waiting.length >= maxWaiting) throw new TooBusy();
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

function tagOf(password: string, nonce: Buffer, { memory, passes, parallelism } = cost) {
  // Keyboards may enter the same text as different code points.
  const message = password.normalize('NFKC');
  return derive('argon2id', { message, nonce, memory, passes, parallelism, tagLength });
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/**
 * Hashes a password. The result is a PHC string, which contains the algorithm and its cost.
 * @throws TooBusy
 */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await withSlot(() => tagOf(password, nonce));
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;
/** Matches no password, since none has a tag of zeros. */
const dummyHash = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/**
 * Whether a password matches a hash. Without a hash it returns false after the same work.
 * @throws TooBusy
 */
export async function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = form.exec(hash ?? dummyHash) ?? [];
  const stored = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  };
  const found = await withSlot(() =>
    tagOf(password, Buffer.from(nonce, 'base64'), stored as typeof cost),
  );
  return timingSafeEqual(found, Buffer.from(tag, 'base64')) && hash !== null;
}
