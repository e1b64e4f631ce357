const code = (character: string) => character.charCodeAt(0);
const [quote, backslash, comma] = [code('"'), code('\\'), code(',')];
const [openList, openObject, closeList, closeObject] = [code('['), code('{'), code(']'), code('}')];

/** Enough for any message of a vendor. */
export const maxDepth = 200;

interface Outline {
  readonly isTooDeep: boolean;
  /** How many commas separate the entries of the outermost list or object. */
  readonly commas: number;
}

/** Looks at a JSON text without parsing it, which costs little whatever the text has. Stops once it is too deep. */
export function outlineOf(text: string): Outline {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === quote) at = endOfString(text, at);
    else if (character === comma) commas += depth === 1 ? 1 : 0;
    else if (character === openList || character === openObject) {
      depth += 1;
      if (depth > maxDepth) return { isTooDeep: true, commas };
    } else if (character === closeList || character === closeObject) depth -= 1;
  }
  return { isTooDeep: false, commas };
}

/** The closing quote of a string, or the end of a text without one. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === quote) return at;
    if (character === backslash) at += 1;
  }
  return text.length;
}
