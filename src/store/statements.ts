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
