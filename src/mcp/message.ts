import { isUtf8 } from 'node:buffer';
import { isObject } from '../json.ts';

/** A request body that is valid JSON. */
export interface Message {
  readonly body: unknown;
  /** The source text of its id, to be echoed unchanged; undefined without a valid id. */
  readonly id: string | undefined;
}

/** @returns undefined for anything but JSON in UTF-8 */
export function parseMessage(bytes: Buffer): Message | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString();
  try {
    const body: unknown = JSON.parse(text);
    if (longNumber.test(text)) keepFractions(body, text);
    return { body, id: idOf(text, body) };
  } catch {
    return undefined;
  }
}

function idOf(text: string, body: unknown): string | undefined {
  const id = isObject(body) && Object.hasOwn(body, 'id') ? body['id'] : undefined;
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  const source = sourceOf(text, 'id');
  return typeof id === 'string' || isInteger(source) ? source : undefined;
}

/** What a number may look like whose fraction a double loses. */
const longNumber = /[\d.]{17}|\de/i;

/** Replaces arguments of a tool that only a double makes integers by their source text, which no schema takes for one. */
function keepFractions(body: unknown, text: string): void {
  const params = isObject(body) ? body['params'] : undefined;
  const input = isObject(params) ? params['arguments'] : undefined;
  if (!isObject(input)) return;
  const members = membersOf(sourceOf(sourceOf(text, 'params'), 'arguments'));
  const sources = new Map(members.map(([name, source]) => [JSON.parse(name) as string, source]));
  for (const [name, source] of sources) {
    if (!Number.isInteger(input[name]) || isInteger(source)) continue;
    (input as Record<string, unknown>)[name] = source;
  }
}

const numberParts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** Whether a JSON number is an integer. Checks its digits, because a double may have lost some. */
function isInteger(source: string): boolean {
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
 * The source text of a member, or of the last one if there are several, as in JSON.parse. A reviver would
 * also see it, but visits every value of the body: that takes ten times as long, and deep nesting
 * overflows the stack.
 * @param text valid JSON, an object that has the member
 */
function sourceOf(text: string, name: string): string {
  let found = '';
  for (const [each, source] of membersOf(text)) if (isName(each, name)) found = source;
  return found;
}

/**
 * The members of an object as source text, names with their quotes.
 * @param text valid JSON, an object
 */
function* membersOf(text: string): Generator<readonly [name: string, source: string]> {
  let depth = 0;
  let start = 0;
  let name = '';
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
        name = text.slice(start, at).trim();
        start = at + 1;
        break;
      case comma:
      case closeBrace:
      case closeBracket:
        if (depth === 1) {
          if (name !== '') yield [name, text.slice(start, at).trim()];
          start = at + 1;
        }
        if (text.charCodeAt(at) !== comma) depth -= 1;
        break;
    }
  }
}

/** @param text with its quotes; any of its characters may be escaped */
function isName(text: string, name: string): boolean {
  return text === `"${name}"` || (text.includes('\\') && JSON.parse(text) === name);
}

/** @param at index of the opening quote */
function endOfString(text: string, at: number): number {
  let end = at + 1;
  while (text.charCodeAt(end) !== quote) end += text.charCodeAt(end) === backslash ? 2 : 1;
  return end;
}

/** All JSON-RPC errors that the service sends, by name. */
export const rejections = {
  parseError: { code: -32700, message: 'Parse error' },
  invalidRequest: { code: -32600, message: 'Invalid Request' },
  methodNotFound: { code: -32601, message: 'Method not found' },
  /** A 2026-07-28 request without a required _meta field. */
  metaMissing: { code: -32602, message: 'Invalid params' },
  invalidParams: { code: -32602, message: 'Invalid params' },
  headerMismatch: { code: -32020, message: 'Header mismatch' },
  unsupportedVersion: { code: -32022, message: 'Unsupported protocol version' },
} as const satisfies Record<string, { code: number; message: string }>;

export type Rejection = keyof typeof rejections;

/** HTTP status of each rejection by revision; 2025-06-18 sends every error with 200. */
export const rejectionStatus: Readonly<
  Record<Rejection, { '2025-06-18': number; '2026-07-28': number }>
> = {
  parseError: { '2025-06-18': 200, '2026-07-28': 200 },
  invalidRequest: { '2025-06-18': 200, '2026-07-28': 400 },
  methodNotFound: { '2025-06-18': 200, '2026-07-28': 404 },
  metaMissing: { '2025-06-18': 200, '2026-07-28': 400 },
  invalidParams: { '2025-06-18': 200, '2026-07-28': 200 },
  headerMismatch: { '2025-06-18': 200, '2026-07-28': 400 },
  unsupportedVersion: { '2025-06-18': 200, '2026-07-28': 400 },
};
