import { type JsonObject, isObject } from '../json.ts';
import { clipName } from '../operations/invoke.ts';
import type { Message, Rejection } from './message.ts';

export type Revision = '2025-06-18' | '2026-07-28';

/** Newest first, as reported to clients. */
export const supportedVersions: readonly Revision[] = ['2026-07-28', '2025-06-18'];

const modern: Revision = '2026-07-28';
const legacy: Revision = '2025-06-18';

/** Revisions between ours that have a handshake; a client may send them with `initialize`. */
const laterHandshakeVersions = new Set(['2025-11-25']);

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** The source text of an id, echoed unchanged. */
export type MessageId = string;

/** The headers that must match the message, trimmed. */
export interface MirrorHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/** The result of classifying a body and its headers. */
export type Classified =
  | {
      readonly kind: 'request';
      readonly revision: Revision;
      readonly id: MessageId;
      readonly method: string;
      readonly params: unknown;
    }
  /** A notification or a response: accepted and ignored. */
  | { readonly kind: 'ignored' }
  | {
      readonly kind: 'rejected';
      readonly revision: Revision;
      readonly id: MessageId | null;
      readonly rejection: Rejection;
      /** What exactly is wrong, for the error message. */
      readonly detail?: string;
      readonly data?: JsonObject;
    };

/**
 * Classifies a message and chooses its revision. Stateless: only the headers and the body of the request
 * count.
 * @param message undefined if the body is not JSON
 */
export function classify(headers: MirrorHeaders, message: Message | undefined): Classified {
  if (!message) return { kind: 'rejected', revision: legacy, id: null, rejection: 'parseError' };
  const { body, id } = message;
  const { version } = headers;
  const invalid: Classified = {
    kind: 'rejected',
    revision: version === modern ? modern : legacy,
    id: id ?? null,
    rejection: 'invalidRequest',
  };

  if (!isObject(body)) return invalid;
  const { jsonrpc, method, params } = body;
  if (
    !Object.hasOwn(body, 'method') &&
    (Object.hasOwn(body, 'result') || Object.hasOwn(body, 'error'))
  ) {
    return { kind: 'ignored' };
  }
  if (jsonrpc !== '2.0' || typeof method !== 'string') return invalid;
  if (id === undefined) return Object.hasOwn(body, 'id') ? invalid : { kind: 'ignored' };

  const meta = isObject(params) && isObject(params['_meta']) ? params['_meta'] : {};
  return selectRevision(headers, { id, method, params }, meta);
}

interface Request {
  readonly id: MessageId;
  readonly method: string;
  readonly params: unknown;
}

function selectRevision(headers: MirrorHeaders, request: Request, meta: JsonObject): Classified {
  const { version = '' } = headers;
  const declared = meta[versionKey];
  const isDeclared = Object.hasOwn(meta, versionKey);
  const hasCapabilities = Object.hasOwn(meta, capabilitiesKey);

  // A client that requests the legacy revision in the header stays on it, unless _meta names another.
  const asksForLegacy = declared === legacy || (version === legacy && typeof declared !== 'string');
  if (asksForLegacy && version !== modern) {
    return { kind: 'request', revision: legacy, ...request };
  }
  if (isDeclared || version === modern || (hasCapabilities && version === '')) {
    return checkFraming(headers, request, meta);
  }
  const isHandshake =
    request.method === 'initialize' && laterHandshakeVersions.has(version) && !hasCapabilities;
  if (version === '' || isHandshake) return { kind: 'request', revision: legacy, ...request };
  return unsupported(request.id, version);
}

/** Checks the framing rules of 2026-07-28; the order decides which error is reported. */
function checkFraming(headers: MirrorHeaders, request: Request, meta: JsonObject): Classified {
  const { id, method, params } = request;
  const reject = (rejection: Rejection, detail: string): Classified => ({
    kind: 'rejected',
    revision: modern,
    id,
    rejection,
    detail,
  });

  const declared = meta[versionKey];
  if (typeof declared !== 'string')
    return reject('metaMissing', `_meta must hold ${versionKey}, a string.`);
  if (!isObject(meta[capabilitiesKey])) {
    return reject('metaMissing', `_meta must hold ${capabilitiesKey}, an object.`);
  }
  if (headers.version !== declared) {
    return reject(
      'headerMismatch',
      `MCP-Protocol-Version must be ${clipName(declared)}, as _meta says.`,
    );
  }
  if (headers.method !== method) {
    return reject('headerMismatch', 'Mcp-Method must be the method of the body.');
  }
  if (declared !== modern) return unsupported(id, declared);
  if (method === 'tools/call') {
    const name = isObject(params) ? params['name'] : undefined;
    const mirrored = headers.name === undefined ? undefined : decodeHeaderValue(headers.name);
    if (mirrored === undefined || mirrored !== name) {
      return reject('headerMismatch', 'Mcp-Name must be the name of the tool in the body.');
    }
  }
  return { kind: 'request', revision: modern, ...request };
}

function unsupported(id: MessageId, requested: string): Classified {
  return {
    kind: 'rejected',
    revision: modern,
    id,
    rejection: 'unsupportedVersion',
    data: { supported: supportedVersions, requested: clipName(requested) },
  };
}

const plainText = /^[\t\x20-\x7e]*$/;
const encodedText = /^=\?base64\?(.*)\?=$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a header value: text that is not ASCII is sent as base64 of its UTF-8.
 * @returns undefined if the value is not ASCII, or its base64 or UTF-8 is invalid
 */
function decodeHeaderValue(value: string): string | undefined {
  if (!plainText.test(value)) return undefined;
  const base64 = encodedText.exec(value)?.[1];
  if (base64 === undefined) return value;
  const bytes = Buffer.from(base64, 'base64');
  // Buffer skips invalid base64, so only encoding it again shows that the text was valid.
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
