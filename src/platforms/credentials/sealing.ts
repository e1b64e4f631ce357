import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { CommandError } from '../../errors.ts';

/*
 * A sealed text is, in base64: the id of its key (4 bytes), a nonce (12), what AES-256-GCM makes of the text, and the
 * tag (16).
 */
const algorithm = 'aes-256-gcm';
const idBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
/** How a text begins that is stored as it is; the colon is not in base64. */
const plainPrefix = 'plain:';

/** Not secret: tells which of several keys a text was sealed with. */
function idOf(key: Buffer): Buffer {
  return hash('sha256', key, 'buffer').subarray(0, idBytes);
}

function idIn(sealed: string): Buffer {
  return Buffer.from(sealed, 'base64').subarray(0, idBytes);
}

/** Encrypts and decrypts secrets with the keys of CREDENTIALS_KEY. */
export class Sealing {
  readonly #keys: readonly Buffer[];
  readonly #allowsPlain: boolean;

  /**
   * @param keys of 32 bytes; the first seals, the others only open
   * @param allowsPlain whether texts may be stored as they are while there is no key
   */
  constructor(keys: readonly Buffer[], { allowsPlain = false } = {}) {
    this.#keys = keys;
    this.#allowsPlain = allowsPlain;
  }

  /**
   * @param context what the text belongs to: it can be opened only with the same
   * @throws CommandError without a key, unless plain texts are allowed
   */
  seal(text: string, context: string): string {
    const [key] = this.#keys;
    if (!key && this.#allowsPlain) return plainPrefix + text;
    if (!key) {
      throw new CommandError(
        `CREDENTIALS_KEY is not set, so the credentials of ${context} cannot be encrypted.`,
      );
    }
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([idOf(key), nonce, sealed, cipher.getAuthTag()]).toString('base64');
  }

  /** @throws CommandError if no key fits, or the text was changed or belongs to something else */
  open(sealedText: string, context: string): string {
    if (this.isPlain(sealedText)) return sealedText.slice(plainPrefix.length);
    if (this.#keys.length === 0) {
      throw new CommandError(
        `CREDENTIALS_KEY is not set, so the stored credentials of ${context} cannot be decrypted.`,
      );
    }
    const sealed = Buffer.from(sealedText, 'base64');
    const key = this.#keyOf(sealedText);
    if (!key) {
      throw new CommandError(
        `CREDENTIALS_KEY lacks the key that the stored credentials of ${context} were encrypted with. Add it after the new one, separated by a comma, or replace them.`,
      );
    }
    const start = idBytes + nonceBytes;
    try {
      const decipher = createDecipheriv(algorithm, key, sealed.subarray(idBytes, start))
        .setAAD(Buffer.from(context))
        .setAuthTag(sealed.subarray(-tagBytes));
      return (
        decipher.update(sealed.subarray(start, -tagBytes), undefined, 'utf8') +
        decipher.final('utf8')
      );
    } catch {
      throw new CommandError(
        `The stored credentials of ${context} cannot be decrypted: they are damaged, or were copied from elsewhere. Replace them.`,
      );
    }
  }

  /** Whether one of the keys has sealed this, of which the beginning is enough. */
  hasKeyOf(sealed: string): boolean {
    return this.#keyOf(sealed) !== undefined;
  }

  #keyOf(sealed: string): Buffer | undefined {
    return this.#keys.find((each) => idOf(each).equals(idIn(sealed)));
  }

  /** Whether the text is stored as it is, where that is allowed. */
  isPlain(sealedText: string): boolean {
    return this.#allowsPlain && sealedText.startsWith(plainPrefix);
  }

  canOpen(sealed: string, context: string): boolean {
    try {
      this.open(sealed, context);
      return true;
    } catch (error) {
      if (error instanceof CommandError) return false;
      throw error;
    }
  }

  /** The same secret, sealed with the first key. What is so already, or cannot be opened, stays as it is. */
  reseal(sealed: string, context: string): string {
    const [key] = this.#keys;
    const isCurrent = !key || idOf(key).equals(idIn(sealed));
    return isCurrent || !this.canOpen(sealed, context)
      ? sealed
      : this.seal(this.open(sealed, context), context);
  }
}
