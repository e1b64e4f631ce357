import { visible } from './visible.ts';

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
