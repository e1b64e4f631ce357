/** Characters; the least that NIST SP 800-63B-4 accepts of a password without a second factor is 15. */
export const passwordLength = { min: 15, max: 200 } as const;

/** What a password must not be made of. */
export interface PasswordContext {
  /** In lower case. */
  readonly email: string;
  readonly shopNames: readonly string[];
}

const serviceNames = ['retention', 'data', 'service'];
const advice = 'Use three or more words that do not belong together.';

/** What is wrong with a new password, as a sentence; undefined if nothing is. */
export async function passwordProblem(
  password: string,
  context: PasswordContext,
): Promise<string | undefined> {
  const { length } = [...password];
  const { min, max } = passwordLength;
  if (length < min) return `Use at least ${min} characters; a few words in a row are good.`;
  if (length > max) return `Use at most ${max} characters.`;
  if (new Set(password).size < 5) return 'Use more different characters.';
  if (password.toLowerCase().includes(context.email)) return 'Leave your e-mail address out of it.';

  const common = await loadCommonPasswords();
  const spellings = spellingsOf(password);
  const isGuessable = (words: ReadonlySet<string>) =>
    spellings.some((spelling) => fewestPieces(spelling, common, words) <= maxPieces);
  if (isGuessable(new Set())) return `This is one of the first passwords anyone tries. ${advice}`;
  if (isGuessable(contextWords(context))) {
    return `This is little more than your shop’s name, your e-mail address or the name of this service. ${advice}`;
  }
  return undefined;
}

/** Of common passwords: with three, anybody's passphrase would be refused. */
const maxPieces = 2;

/** The package is loaded when somebody chooses a password, which few processes ever see. */
async function loadCommonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  commonPasswords ??= new Set(dictionary['passwords-common']);
  return commonPasswords;
}
let commonPasswords: ReadonlySet<string> | undefined;

function contextWords({ email, shopNames }: PasswordContext): ReadonlySet<string> {
  const names = [...serviceNames, email, ...shopNames].map((name) => name.toLowerCase());
  const words = names.flatMap((name) => [bare(name), ...name.split(/[^\p{L}\p{N}]+/u)]);
  return new Set(words.filter((word) => word.length >= 3));
}

/** Letters and digits only. */
function bare(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** A password as it could stand in a list: what is said several times once, without digits around it. */
function spellingsOf(password: string): string[] {
  const lower = password.normalize('NFKC').toLowerCase();
  return [lower, bare(lower)].flatMap((text) => {
    const once = text.slice(0, periodOf(text));
    return [once, once.replaceAll(/^\d+|\d+$/g, '')].filter((spelling) => spelling !== '');
  });
}

/** After how many characters a text begins again; its length if it never does. */
function periodOf(text: string): number {
  for (let period = 1; period <= text.length / 2; period += 1) {
    if (text.startsWith(text.slice(period))) return period;
  }
  return text.length;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz';

/** How few common passwords make up a text, with any number of `words`; Infinity if nothing does. */
function fewestPieces(
  text: string,
  common: ReadonlySet<string>,
  words: ReadonlySet<string>,
): number {
  const priceOf = (piece: string) => {
    if (words.has(piece)) return 0;
    return common.has(piece) || (piece.length >= 4 && alphabet.includes(piece)) ? 1 : Infinity;
  };
  const fewest = [0];
  for (let end = 1; end <= text.length; end += 1) {
    const ways = fewest.map((before, start) => before + priceOf(text.slice(start, end)));
    fewest.push(Math.min(...ways));
  }
  return fewest.at(-1) as number;
}
