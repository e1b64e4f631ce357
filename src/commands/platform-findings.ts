import type { Config } from '../config/config.ts';
import { readCredentials } from '../platforms/credentials/file.ts';
import { listUnreadable } from '../platforms/credentials/stored.ts';
import { Sealing } from '../platforms/credentials/sealing.ts';
import type { Platform } from '../platforms/platform.ts';
import { platforms } from '../platforms/registry.ts';
import type { Sql } from '../store/database.ts';
import { listConnections } from '../store/feeds/platforms.ts';
import { type Finding, failure } from './finding.ts';

/** A platform's settings, named after their variables: shopifyCredentialsFile, for example. */
export function shownSettings(
  { name, settings }: Platform,
  config: Config,
): Record<string, unknown> {
  const { credentialsFile, webhookSecrets = [], clientId, baseUrl } = config.platforms[name] ?? {};
  return {
    [camelCase(settings.credentialsFile)]: credentialsFile,
    [camelCase(settings.webhookSecrets.variable)]: webhookSecrets.map(() => 'redacted'),
    ...(settings.clientId !== undefined && { [camelCase(settings.clientId)]: clientId }),
    ...(settings.baseUrl !== undefined && { [camelCase(settings.baseUrl)]: baseUrl }),
  };
}

function camelCase(variable: string): string {
  return variable.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Checks only the file. Whether the platform accepts the credentials shows during a sync. */
export async function examineCredentials(platform: Platform, config: Config): Promise<Finding[]> {
  const file = config.platforms[platform.name]?.credentialsFile;
  if (file === undefined) return [];
  const check = `${platform.name} credentials`;
  try {
    const shops = await readCredentials(platform, file);
    return [{ check, ok: true, detail: shops.map(({ shop }) => `shop ${shop}`).join(', ') }];
  } catch (error) {
    return [failure(check, error)];
  }
}

/** How many shops are connected to each platform, and whether the stored credentials can be decrypted. */
export async function examineConnections(config: Config, sql: Sql): Promise<Finding[]> {
  const findings = platforms.map(async (platform): Promise<Finding[]> => {
    const { name, title, settings } = platform;
    const file = config.platforms[name]?.credentialsFile;
    // Whether the file is usable is another check.
    const entries = file === undefined ? [] : await readCredentials(platform, file).catch(() => []);
    const inFile = new Set(entries.map(({ shop }) => shop));
    const stored = (await listConnections(sql, name)).filter(({ shopId }) => !inFile.has(shopId));
    if (inFile.size + stored.length === 0) return [];
    const detail = `${inFile.size} in ${settings.credentialsFile}, ${stored.length} in the database`;
    const connected: Finding = { check: `shops connected to ${title}`, ok: true, detail };
    if (stored.length === 0) return [connected];
    const sealing = new Sealing(config.credentialsKeys);
    const unreadable = listUnreadable({ platform: name, sealing }, stored);
    return [connected, readability(platform, unreadable, config.credentialsKeys.length > 0)];
  });
  return (await Promise.all(findings)).flat();
}

/** @param unreadable the shops whose credentials cannot be decrypted */
function readability(
  { name, title }: Platform,
  unreadable: readonly number[],
  hasKey: boolean,
): Finding {
  const check = `stored ${name} credentials`;
  if (unreadable.length === 0) return { check, ok: true, detail: 'can be decrypted' };
  const shops = new Intl.ListFormat('en-GB').format(unreadable.map(String));
  const whose = `of ${unreadable.length === 1 ? 'shop' : 'shops'} ${shops}`;
  const detail = hasKey
    ? `those ${whose} cannot be decrypted. Add the key that they were encrypted with to CREDENTIALS_KEY, after the new one and a comma, or connect to ${title} again.`
    : `CREDENTIALS_KEY is not set, so those ${whose} cannot be decrypted. Set it, or connect to ${title} by the credentials file.`;
  return { check, ok: false, detail };
}
