import type { Config } from '../../config/config.ts';
import { listUnreadableSources } from '../../door/sources.ts';
import { sealingOf } from '../../platforms/open.ts';
import type { Sql } from '../../store/database.ts';
import { listLivePushSources } from '../../store/door/sources.ts';
import type { Finding } from '../finding.ts';

/** How many sources may push records, and whether the signatures of their requests can be verified. */
export async function examinePushSources(config: Config, sql: Sql): Promise<Finding[]> {
  const sources = await listLivePushSources(sql);
  if (sources.length === 0) return [];
  const check = 'push sources';
  const unreadable = listUnreadableSources(sources, sealingOf(config.credentialsKeys));
  if (unreadable.length === 0) return [{ check, ok: true, detail: `${sources.length} in use` }];
  const names = unreadable.map(({ sourceId, shopId }) => `${sourceId} of shop ${shopId}`);
  const detail =
    config.credentialsKeys.length === 0
      ? `CREDENTIALS_KEY is not set, so requests of ${names.join(', ')} are answered 503. Set the key that their secrets were encrypted with.`
      : `the secrets of ${names.join(', ')} cannot be decrypted, so their requests are answered 503. Add the key that they were encrypted with to CREDENTIALS_KEY, after the new one and a comma, or rotate them.`;
  return [{ check, ok: false, detail }];
}
