export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A posted body that is JSON. */
export interface Message {
  readonly body: unknown;
  /** The source text of its id, to be echoed as it is; undefined where there is no valid id. */
  readonly id: string | undefined;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns undefined for what is not JSON in UTF-8 */
export function parseMessage(bytes: Buffer): Message | undefined {
  let text: string;
  let body: unknown;
  try {
    text = decoder.decode(bytes);
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  return { body, id: idOf(text, body) };
}

function idOf(text: string, body: unknown): string | undefined {
  const id = isObject(body) && Object.hasOwn(body, 'id') ? body['id'] : undefined;
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  const source = sourceOfId(text);
  return typeof id === 'string' || isWhole(source) ? source : undefined;
}

const numberParts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** Whether a JSON number is an integer, judged by its digits: a double would have lost some. */
function isWhole(source: string): boolean {
  const [, integer = '', fraction = '', exponent = '0'] = numberParts.exec(source) ?? [];
  const decimals = fraction.length - Number(exponent);
  return decimals <= 0 || !/[1-9]/.test((integer + fraction).slice(-decimals));
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The source text of the id; of the last one where there are several, as JSON.parse has it. A
 * reviver would be given it too, but only by visiting every value of the body: ten times the work,
 * and deep nesting overflows the stack.
 * @param text valid JSON, an object that has an id
 */
function sourceOfId(text: string): string {
  let depth = 0;
  let start = 0;
  let isId = false;
  let source = '';
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case openBrace:
      case openBracket:
        depth += 1;
        if (depth === 1) start = at + 1;
        break;
      case colon:
        if (depth !== 1) break;
        isId = isNameOfId(text.slice(start, at).trim());
        start = at + 1;
        break;
      case comma:
      case closeBrace:
      case closeBracket:
        if (depth === 1) {
          if (isId) source = text.slice(start, at).trim();
          start = at + 1;
        }
        if (text.charCodeAt(at) !== comma) depth -= 1;
        break;
    }
  }
  return source;
}

/** @param name in its quotes; any character of it may be escaped */
function isNameOfId(name: string): boolean {
  return name === '"id"' || (name.includes('\\') && JSON.parse(name) === 'id');
}

/** @param at where the string begins */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  while (text.charCodeAt(end) !== quote) end += text.charCodeAt(end) === backslash ? 2 : 1;
  return end;
}
