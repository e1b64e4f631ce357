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

/** Not secret: tells which of several keys a text was sealed with. */
function idOf(key: Buffer): Buffer {
  return hash('sha256', key, 'buffer').subarray(0, idBytes);
}

/** Encrypts and decrypts secrets with the keys of CREDENTIALS_KEY. */
export class Sealing {
  readonly #keys: readonly Buffer[];

  /** @param keys of 32 bytes, at least one; the first seals, the others only open */
  constructor(keys: readonly Buffer[]) {
    this.#keys = keys;
  }

  /** @param context what the text belongs to: it can be opened only with the same */
  seal(text: string, context: string): string {
    const key = this.#keys[0] as Buffer;
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([idOf(key), nonce, sealed, cipher.getAuthTag()]).toString('base64');
  }

  /** @throws CommandError if no key fits, or the text was changed or belongs to something else */
  open(sealedText: string, context: string): string {
    const sealed = Buffer.from(sealedText, 'base64');
    const key = this.#keys.find((each) => idOf(each).equals(sealed.subarray(0, idBytes)));
    if (!key) {
      throw new CommandError(
        `CREDENTIALS_KEY lacks the key that the stored credentials of ${context} were encrypted with. Add it after the new one, separated by a comma, or connect again.`,
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
        `The stored credentials of ${context} cannot be decrypted: they are damaged, or were copied from elsewhere. Connect again.`,
      );
    }
  }

  /** Whether the text was sealed with an older key than the first. */
  isOld(sealed: string): boolean {
    const id = Buffer.from(sealed, 'base64').subarray(0, idBytes);
    return !idOf(this.#keys[0] as Buffer).equals(id);
  }
}
