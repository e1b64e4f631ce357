/** How a file's characters are written as bytes. */
export const encodings = ['utf-8', 'utf-16', 'latin-1'] as const;
export type Encoding = (typeof encodings)[number];

/**
 * Converts a file's bytes to UTF-8. Latin-1 includes the characters that Windows adds to it, such as the
 * euro sign. UTF-16 is little-endian unless a byte order mark says otherwise.
 */
export async function* toUtf8(
  bytes: AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') return yield* bytes;
  let decoder: TextDecoder | undefined;
  let start: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const part = decoder ? chunk : Buffer.concat([start, chunk]);
    if (!decoder && part.length < 2) {
      start = part;
      continue;
    }
    decoder ??= new TextDecoder(labelOf(encoding, part));
    const text = decoder.decode(part, { stream: true });
    if (text !== '') yield Buffer.from(text);
  }
  const rest = decoder ? decoder.decode() : start.toString('latin1');
  if (rest !== '') yield Buffer.from(rest);
}

/** The name of an encoding for a TextDecoder. @param start of the file */
export function labelOf(encoding: Encoding, start: Buffer): string {
  if (encoding === 'utf-8') return encoding;
  if (encoding === 'latin-1') return 'windows-1252';
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : 'utf-16le';
}

/** Whether a file begins with the byte order mark of UTF-16. */
export function hasUtf16Mark(start: Buffer): boolean {
  return start.length > 1 && [0xfffe, 0xfeff].includes(start.readUInt16BE(0));
}
