import type { Config } from '../../config/config.ts';
import { systemClock } from '../../clock.ts';
import { examineSources, secretSealing } from '../../push/sources.ts';
import type { Sql } from '../../store/database.ts';
import { listLivePushSources } from '../../store/push/sources.ts';
import type { Finding } from '../finding.ts';

/** How many sources may push records, and whether their secrets can be decrypted, and are encrypted at all. */
export async function examinePushSources(config: Config, sql: Sql): Promise<Finding[]> {
  const sources = await listLivePushSources(sql);
  if (sources.length === 0) return [];
  const check = 'push sources';
  const hasKey = config.credentialsKeys.length > 0;
  const sealing = secretSealing(config.credentialsKeys);
  const { unreadable, plain } = examineSources(sources, sealing, systemClock.now());
  const names = unreadable.map(({ sourceId, shopId }) => `${sourceId} of shop ${shopId}`);
  const unreadableDetail = !hasKey
    ? `CREDENTIALS_KEY is not set, so requests of ${names.join(', ')} are answered 503. Set the key that their secrets were encrypted with.`
    : `secrets of ${names.join(', ')} cannot be decrypted, so their requests are answered 503. Add the key that they were encrypted with to CREDENTIALS_KEY, after the new one and a comma, or rotate them.`;
  return [
    unreadable.length === 0
      ? { check, ok: true, detail: `${sources.length} in use` }
      : { check, ok: false, detail: unreadableDetail },
    ...(plain.length === 0
      ? []
      : [
          {
            check,
            ok: true,
            warning: true,
            detail: `signing secrets are stored unencrypted (${plain.length} of ${sources.length} sources); ${hasKey ? '' : 'set CREDENTIALS_KEY to the output of "openssl rand -base64 32" and '}restart "serve", which encrypts them.`,
          } as const,
        ]),
  ];
}
