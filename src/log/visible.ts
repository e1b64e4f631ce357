/** Characters that move the cursor, end a line, or change the direction of text. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Puts text on one line and escapes such characters (`\u202e`), so that no name can hide or forge
 * other output on a terminal.
 */
export function visible(text: string): string {
  return text.replace(
    invisible,
    (each) => short[each] ?? `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const maxValueLength = 100;
const maxListLength = 3;

/**
 * Log lines as a person at a terminal reads them: local time, level, message, `name=value`, and below them the stack
 * of an error.
 * @param lines JSON objects, each with its line end
 */
export function forPeople(lines: string): string {
  return lines.replace(/[^\n]+/g, (line) => {
    const { level, time, msg = '', ...facts } = JSON.parse(line) as Record<string, unknown>;
    const { stack = '' } = Object(facts['err']) as { stack?: string };
    if (stack !== '') delete facts['err'];
    const words = [
      new Date(Number(time)).toTimeString().slice(0, 8),
      String(level).padEnd(5),
      visible(String(msg)),
      ...Object.entries(facts).map(([name, value]) => `${name}=${valueOf(value)}`),
    ];
    const trace = stack.split('\n').map((each) => `\n  ${visible(each)}`);
    return [words.join(' '), ...(stack === '' ? [] : trace)].join('');
  });
}

function valueOf(value: unknown): string {
  if (Array.isArray(value) && value.length > maxListLength) return `${value.length} items`;
  const isWord = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  const text = visible(isWord ? value : JSON.stringify(value));
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}
