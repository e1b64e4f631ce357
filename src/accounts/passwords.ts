import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type Turn, passwordQueue } from './password-queue.ts';

/** Argon2id as OWASP recommends it: KiB of memory, passes, lanes; takes about 50 ms. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;
const derive = promisify(argon2);

function tagOf(password: string, nonce: Buffer, { memory, passes, parallelism } = cost) {
  // Keyboards may enter the same text as different code points.
  const message = password.normalize('NFKC');
  return derive('argon2id', { message, nonce, memory, passes, parallelism, tagLength });
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

/**
 * Hashes the new password of someone who may set it. The result is a PHC string, which contains the algorithm and its
 * cost.
 * @param network the client's
 * @throws TooBusy
 */
export async function hashPassword(password: string, network: string): Promise<string> {
  const nonce = randomBytes(16);
  using turn = await passwordQueue.turn({ standing: 'known', network });
  const tag = await turn.compute(() => tagOf(password, nonce));
  turn.succeed();
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;
/** Matches no password, since none has a tag of zeros. */
const dummyHash = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** Whether a password matches a hash. Without a hash it returns false after the same work. */
export async function verifyPassword(
  turn: Turn,
  hash: string | null,
  password: string,
): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = '', tag = ''] = form.exec(hash ?? dummyHash) ?? [];
  const stored = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
  };
  const found = await turn.compute(() =>
    tagOf(password, Buffer.from(nonce, 'base64'), stored as typeof cost),
  );
  return timingSafeEqual(found, Buffer.from(tag, 'base64')) && hash !== null;
}

/**
 * In characters of its NFKC form, since one may become eighteen. NIST SP 800-63B-4 requires at least 15 for a password
 * without a second factor.
 */
export const passwordLength = { min: 15, max: 200 } as const;

/** What a password must not consist of. */
export interface PasswordContext {
  /** In lower case. */
  readonly email: string;
  readonly shopNames: readonly string[];
}

const serviceNames = ['retention', 'data', 'service'];
const advice = 'Use three or more unrelated words.';

/** What is wrong with a new password, as a sentence; undefined if it is acceptable. */
export async function passwordProblem(
  password: string,
  context: PasswordContext,
): Promise<string | undefined> {
  const { length } = [...password.normalize('NFKC')];
  const { min, max } = passwordLength;
  if (length < min) return `Use at least ${min} characters. Several words work well.`;
  if (length > max) return `Use at most ${max} characters.`;
  if (new Set(password).size < 5) return 'Use a greater variety of characters.';
  if (password.toLowerCase().includes(context.email)) return 'Do not include your email address.';

  const common = await loadCommonPasswords();
  const spellings = spellingsOf(password);
  const isGuessable = (words: ReadonlySet<string>) =>
    spellings.some((spelling) => fewestPieces(spelling, common, words) <= maxPieces);
  if (isGuessable(new Set())) return `This is one of the first passwords anyone tries. ${advice}`;
  if (isGuessable(contextWords(context))) {
    return `This is little more than your shop’s name, your email address or the name of this service. ${advice}`;
  }
  return undefined;
}

/** Maximum number of common passwords in a row; with three, most passphrases would be rejected. */
const maxPieces = 2;

interface CommonPasswords {
  readonly passwords: ReadonlySet<string>;
  readonly longest: number;
}

/** Loaded on demand, since few processes ever need it. */
async function loadCommonPasswords(): Promise<CommonPasswords> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const passwords = dictionary['passwords-common'];
  return (commonPasswords ??= {
    passwords: new Set(passwords),
    longest: lengthOfLongest(passwords),
  });
}
let commonPasswords: CommonPasswords | undefined;

function contextWords({ email, shopNames }: PasswordContext): ReadonlySet<string> {
  const names = [...serviceNames, email, ...shopNames].map((name) => name.toLowerCase());
  const words = names.flatMap((name) => [lettersAndDigits(name), ...name.split(/[^\p{L}\p{N}]+/u)]);
  return new Set(words.filter((word) => word.length >= 3));
}

/** Letters and digits only. */
function lettersAndDigits(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Forms of a password to look up: repetitions reduced to one, without digits at either end. */
function spellingsOf(password: string): string[] {
  const lower = password.normalize('NFKC').toLowerCase();
  return [lower, lettersAndDigits(lower)].flatMap((text) => {
    const once = text.slice(0, periodOf(text));
    return [once, once.replaceAll(/^\d+|\d+$/g, '')].filter((spelling) => spelling !== '');
  });
}

/** The length of the repeated part of a text; its whole length if it does not repeat. */
function periodOf(text: string): number {
  for (let period = 1; period <= text.length / 2; period += 1) {
    if (text.startsWith(text.slice(period))) return period;
  }
  return text.length;
}

function lengthOfLongest(words: Iterable<string>): number {
  let longest = 0;
  for (const { length } of words) longest = Math.max(longest, length);
  return longest;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz';

/** The smallest number of common passwords that form a text; `words` are free. Infinity if impossible. */
function fewestPieces(text: string, common: CommonPasswords, words: ReadonlySet<string>): number {
  const priceOf = (piece: string) => {
    if (words.has(piece)) return 0;
    return common.passwords.has(piece) || (piece.length >= 4 && alphabet.includes(piece))
      ? 1
      : Infinity;
  };
  const longest = Math.max(common.longest, lengthOfLongest(words), alphabet.length);
  const fewest = [0];
  for (let end = 1; end <= text.length; end += 1) {
    const from = Math.max(0, end - longest);
    const ways = fewest
      .slice(from)
      .map((before, index) => before + priceOf(text.slice(from + index, end)));
    fewest.push(Math.min(...ways));
  }
  return fewest.at(-1) as number;
}
