/** What marks the lines of a mapping that somebody should look at. */
export const checkMark = 'CHECK';

/** A value with comments: lines above it, and one behind it. */
export class Commented {
  readonly value: unknown;
  readonly above: readonly string[];
  readonly behind: string | undefined;

  constructor(value: unknown, above: readonly string[], behind?: string) {
    this.value = value;
    this.above = above;
    this.behind = behind;
  }
}

/** The value, marked as unsure if there is a doubt. */
export function withDoubt(value: unknown, ...doubts: readonly (string | undefined)[]): unknown {
  const found = doubts.filter((doubt) => doubt !== undefined);
  return found.length === 0
    ? value
    : new Commented(
        value,
        found.map((doubt) => `${checkMark}: ${doubt}`),
      );
}

const maxWidth = 92;

/** Writes JSON with comments, indented, with short objects and lists on one line. */
export function writeDocument(value: unknown): string {
  return `${write(value, 0)}\n`;
}

function write(value: unknown, depth: number): string {
  if (value instanceof Commented) return write(value.value, depth);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inline = writeInline(value);
  if (inline !== undefined && inline.length + depth * 2 <= maxWidth && depth > 0) return inline;
  const isList = Array.isArray(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const indent = '  '.repeat(depth + 1);
  const lines = members.map(([name, member], index) => {
    const { above, behind } = member instanceof Commented ? member : new Commented(member, []);
    const text = `${isList ? '' : `${JSON.stringify(name)}: `}${write(member, depth + 1)}`;
    const comma = index < members.length - 1 ? ',' : '';
    const comment = behind === undefined ? '' : ` // ${oneLine(behind)}`;
    const before = above.map((line) => `${indent}// ${oneLine(line)}\n`).join('');
    return `${before}${indent}${text}${comma}${comment}`;
  });
  const [open, close] = isList ? '[]' : '{}';
  return `${open}\n${lines.join('\n')}\n${'  '.repeat(depth)}${close}`;
}

/** Undefined if there are comments in it. */
function writeInline(value: unknown): string | undefined {
  if (value instanceof Commented) return undefined;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const parts: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const text = writeInline(member);
    if (text === undefined) return undefined;
    parts.push(isList ? text : `${JSON.stringify(name)}: ${text}`);
  }
  if (isList) return `[${parts.join(', ')}]`;
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

/** A comment ends with its line, so names of columns must not break it. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
