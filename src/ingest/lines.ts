/** Longer lines are refused: the largest possible record is far shorter. */
const maxLineBytes = 4 * 1024 * 1024;

const newline = 0x0a;
/** Of a number or a word, roughly. */
const scalarCharacters = 8;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** One line of a file, or why it could not be read; `text` is then what can be shown of it. */
export interface Line {
  readonly number: number;
  readonly text: string;
  /** What its text says, if that is at hand: then the text is neither written nor parsed. */
  readonly value?: object;
  readonly problem?: string;
  /** The file it comes from, where the source that hands it over has more than one. */
  readonly source?: string;
  /** What it counts as if there is a problem; "unknown" where nothing is said. */
  readonly countsAs?: string;
}

/** About how many characters a value has as JSON. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return scalarCharacters;
  let size = 0;
  for (const [name, member] of Object.entries(value)) size += name.length + sizeOf(member);
  return size;
}

/** A line of what is in memory already; its text is made only where somebody asks for it. */
export function lineOf(line: Omit<Line, 'text' | 'problem'> & { readonly value: object }): Line {
  return {
    ...line,
    get text() {
      return JSON.stringify(line.value);
    },
  };
}

/**
 * The lines of a byte stream, a chunk's worth at a time, with at most one line held in memory.
 * Blank lines are skipped, but counted.
 */
export async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  let number = 0;
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  const take = (bytes: Uint8Array): Line | undefined => {
    number += 1;
    const isTooLong = restBytes + bytes.length > maxLineBytes;
    const whole = rest.length === 0 ? bytes : Buffer.concat([...rest, bytes]);
    rest = [];
    restBytes = 0;
    return toLine(number, whole, isTooLong);
  };

  for await (const chunk of stream) {
    const lines: Line[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end === -1) break;
      const line = take(chunk.subarray(start, end));
      if (line) lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) {
      const bytes = chunk.subarray(start);
      // Of a line that is too long, only the beginning is kept.
      if (restBytes <= maxLineBytes) rest.push(bytes);
      restBytes += bytes.length;
    }
    if (lines.length > 0) yield lines;
  }
  if (restBytes > 0) {
    const line = take(new Uint8Array(0));
    if (line) yield [line];
  }
}

function toLine(number: number, bytes: Uint8Array, isTooLong: boolean): Line | undefined {
  const lossy = () => Buffer.from(bytes.subarray(0, 1000)).toString('utf8');
  if (isTooLong) {
    return { number, text: lossy(), problem: `the line is longer than ${maxLineBytes} bytes` };
  }
  try {
    // The decoder drops a byte order mark; a carriage return before the newline is white space.
    const text = decoder.decode(bytes).trim();
    return text === '' ? undefined : { number, text };
  } catch {
    return { number, text: lossy(), problem: 'the line is not UTF-8' };
  }
}
