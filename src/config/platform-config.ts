import { type Env, type Settings, readSettings } from './read-settings.ts';

/** The environment variables that configure a platform. */
export interface PlatformSettings {
  /** The platform's name. */
  readonly name: string;
  /** Variable that names the file with its shops and their credentials. */
  readonly credentialsFile?: string;
  /** Variable with the secrets that sign its webhooks; `expected` completes "must be …". */
  readonly webhookSecrets?: { readonly variable: string; readonly expected: string };
  /** Variable with our id at the platform, and one that replaces the platform's address. */
  readonly clientId?: string;
  readonly baseUrl?: string;
  /** Variable with the part of the platform's rate limit that we may use. */
  readonly pointsShare?: string;
}

export interface PlatformConfig {
  /** Undefined means that no shop is synced. */
  readonly credentialsFile: string | undefined;
  /** Newest first; empty means that no webhooks are received. */
  readonly webhookSecrets: readonly string[];
  /** Our id at the platform; undefined means that owners cannot connect their shops. */
  readonly clientId: string | undefined;
  /** Replaces the platform's address, for a proxy or a stand-in. */
  readonly baseUrl: string | undefined;
  /** Of the platform's rate limit, more than 0 and at most 1. */
  readonly pointsShare: number;
}

const descriptions = {
  credentialsFile: {
    about: 'a JSON file with shops and the credentials for them',
    unset: 'only those in the database',
  },
  clientId: {
    about:
      "our app's client id; with its secret and `CREDENTIALS_KEY`, owners can connect their shops",
    unset: 'only operators can',
  },
  webhookSecrets: {
    about:
      'turns on webhooks: the secret that the platform signs them with; during rotation two, `new,old`',
    unset: 'no webhooks',
    fallback: [],
    parse: parseSecrets,
  },
  baseUrl: {
    about: 'another address for the platform, such as a proxy',
    unset: 'its own',
    parse: parsePlatformUrl,
    expected: 'an https:// address (http:// on this machine only)',
  },
  pointsShare: {
    about:
      "the part of the app's API points that the service may use; the rest is left to the app that owns the contracts",
    fallback: 0.5,
    parse: parseShare,
    expected: 'a number from 0.2 to 1',
  },
} as const satisfies Settings;

/** A platform's settings by their variables. */
export function platformSettings(platform: PlatformSettings): Settings {
  const all = Object.entries(variablesOf(platform)).map(
    ([name, variable]) => [variable, descriptions[name as keyof typeof descriptions]] as const,
  );
  return Object.fromEntries(all.filter(([variable]) => variable !== undefined));
}

function variablesOf(platform: PlatformSettings) {
  const { credentialsFile, clientId, webhookSecrets: secrets, baseUrl, pointsShare } = platform;
  return { credentialsFile, clientId, webhookSecrets: secrets?.variable, baseUrl, pointsShare };
}

/** @param problems gets a sentence for each that is invalid */
export function parsePlatform(
  platform: PlatformSettings,
  env: Env,
  problems: string[],
): PlatformConfig {
  const { webhookSecrets, ...others } = descriptions;
  const { expected } = platform.webhookSecrets ?? {};
  const settings = {
    ...others,
    webhookSecrets: { ...webhookSecrets, ...(expected !== undefined && { expected }) },
  };
  const variables: Readonly<Record<string, string | undefined>> = variablesOf(platform);
  return readSettings(settings, env, problems, (name) => variables[name]);
}

/** The minimum length catches truncated values; real secrets are longer. */
function parseSecrets(text: string): string[] | undefined {
  const secrets = splitList(text);
  return secrets.every((secret) => /^\S{16,}$/.test(secret)) ? secrets : undefined;
}

export function parseKeys(text: string): Buffer[] | undefined {
  const parts = splitList(text);
  const keys = parts.map((part) => Buffer.from(part, 'base64'));
  const isBase64 = parts.every((part) => /^[\w+/-]{43}=?$/.test(part));
  return isBase64 && keys.every(({ length }) => length === 32) ? keys : undefined;
}

/** Unencrypted, a token may be sent only to this machine. */
function parsePlatformUrl(text: string): string | undefined {
  return isSafeAddress(URL.parse(text.replaceAll('{domain}', 'domain'))) ? text : undefined;
}

/** Shopify's smallest bucket has 2,000 points, and the service's largest query may need 341. */
function parseShare(text: string): number | undefined {
  const share = /^\d(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  return share >= 0.2 && share <= 1 ? share : undefined;
}

/** Whether secrets may be sent to an address: encrypted, or without leaving this machine. */
export function isSafeAddress(url: URL | null): boolean {
  if (!url || url.username !== '' || url.search !== '' || url.hash !== '') return false;
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
}

export function splitList(text: string): string[] {
  return text.split(',').map((each) => each.trim());
}
