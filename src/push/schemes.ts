/** How a sender signs the body of its requests, with an HMAC. */
export interface Scheme {
  /** Lower case. */
  readonly header: string;
  readonly algorithm: 'sha1' | 'sha256';
  readonly encoding: 'base64' | 'hex';
  /** How the key is made of the secret: from base64 after `whsec_`, or of the text as it is. */
  readonly key: 'base64' | 'text';
  /** What the header's entries are separated by; one entry without it. */
  readonly separator?: string;
  /** What precedes each signature, and the time, in an entry. */
  readonly signature?: string;
  readonly time?: string;
  /** What precedes the body in the signed text; `id` and `time` are of the request. */
  readonly signed?: (id: string, time: string) => string;
  /** The vendor's mapping, the only one that its sources may send to; a program's own source may send to any. */
  readonly mapping?: string;
}

/**
 * The schemes of Standard Webhooks and of vendors; docs/push.md names the sources. Another one is another line.
 */
export const schemes = {
  standard: {
    header: 'webhook-signature',
    algorithm: 'sha256',
    encoding: 'base64',
    key: 'base64',
    separator: ' ',
    signature: 'v1,',
    signed: (id, time) => `${id}.${time}.`,
  },
  stripe: {
    header: 'stripe-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    separator: ',',
    signature: 'v1=',
    time: 't=',
    signed: (_id, time) => `${time}.`,
    mapping: 'stripe-webhooks',
  },
  paddle: {
    header: 'paddle-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    separator: ';',
    signature: 'h1=',
    time: 'ts=',
    signed: (_id, time) => `${time}:`,
    mapping: 'paddle-webhooks',
  },
  churnkey: {
    header: 'ck-signature',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    mapping: 'churnkey-webhooks',
  },
  'chargebee-retention': {
    header: 'x-hub-signature',
    algorithm: 'sha1',
    encoding: 'hex',
    key: 'text',
    mapping: 'chargebee-retention-webhooks',
  },
} as const satisfies Readonly<Record<string, Scheme>>;

export type SchemeName = keyof typeof schemes;
export const schemeNames = Object.keys(schemes) as readonly SchemeName[];

/** Those that sign no time: whoever has seen a request can send it again at any time. */
export const timelessSchemes = schemeNames.filter((name) => !('signed' in schemes[name]));

export function isSchemeName(text: string): text is SchemeName {
  return Object.hasOwn(schemes, text);
}
