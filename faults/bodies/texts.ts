export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;

/** The head of a request may have 16 KiB, and has other lines. */
export const lineBytes = 15 * kibibyte;

interface Frame {
  readonly begin?: string;
  readonly end?: string;
  readonly separator?: string;
}

/**
 * Parts between a beginning and an end, as many as a body may have bytes.
 * @param part ASCII, or a function of the part's index that returns some
 */
export function filled(
  bytes: number,
  part: string | ((index: number) => string),
  { begin = '', end = '', separator = '' }: Frame = {},
): string {
  const room = bytes - begin.length - end.length;
  if (typeof part === 'string') {
    const count = Math.floor((room + separator.length) / (part.length + separator.length));
    return begin + `${part}${separator}`.repeat(count - 1) + part + end;
  }
  const parts: string[] = [];
  let length = -separator.length;
  for (let index = 0; ; index += 1) {
    const next = part(index);
    length += separator.length + next.length;
    if (length > room) return begin + parts.join(separator) + end;
    parts.push(next);
  }
}

/** A JSON array of this part. */
export function arrayOf(bytes: number, part: string | ((index: number) => string)): string {
  return filled(bytes, part, { begin: '[', end: ']', separator: ',' });
}

/** Opened as often as possible, and closed if it says with what. */
export function nested(bytes: number, open: string, close = ''): string {
  const depth = Math.floor(bytes / (open.length + close.length));
  return open.repeat(depth) + close.repeat(depth);
}
