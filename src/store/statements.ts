import { readFile } from 'node:fs/promises';

/** What may contain a semicolon that ends no statement: texts, quoted names, and comments. */
const opaque = [
  /'(?:[^']|'')*'/,
  /"[^"]*"/,
  /--[^\n]*/,
  /\/\*[^]*?\*\//,
  /(?<tag>\$\w*\$)[^]*?\k<tag>/,
];
const token = new RegExp(`${opaque.map(({ source }) => source).join('|')}|;|[^]`, 'g');

/**
 * The statements of a script. Sent one by one, because a cluster sends on the whole text that it received,
 * and its nodes take one statement at a time.
 */
export function statementsOf(script: string): string[] {
  const statements: string[] = [];
  let current: string[] = [];
  for (const [text] of script.matchAll(token)) {
    if (text === ';') {
      statements.push(current.join(''));
      current = [];
    } else if (!text.startsWith('--') && !text.startsWith('/*')) current.push(text);
  }
  statements.push(current.join(''));
  return statements.map((each) => each.trim()).filter((each) => each !== '');
}

/** The text of a script, with those that it includes in place of its lines `\ir FILE`, as psql reads it. */
export async function readScript(file: URL): Promise<string> {
  const text = await readFile(file, 'utf8');
  const parts = text.split(/^\\ir (\S+)$/m);
  const read = (part: string, index: number) =>
    index % 2 === 0 ? part : readScript(new URL(part, file));
  return (await Promise.all(parts.map(read))).join('');
}
