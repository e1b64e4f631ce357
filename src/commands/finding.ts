import type { Config } from '../config/config.ts';
import { redact } from '../log/log.ts';
import { platforms } from '../platforms/registry.ts';

/** What `doctor` found out. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** Nothing is broken, but the operator should know. */
  readonly warning?: true;
  readonly detail: string;
}

export function failure(check: string, error: unknown): Finding {
  const detail = redact(error instanceof Error ? error.message : String(error));
  return { check, ok: false, detail };
}

interface Warning {
  readonly check: string;
  readonly detail: string;
}

/** Settings that work, but probably not as intended. */
export function listWarnings(config: Config): Warning[] {
  const { databaseUrl, redisUrl, baseUrl, trustedProxies } = config;
  const warnings: Warning[] = [];
  if (databaseUrl !== undefined && redisUrl === undefined) {
    warnings.push({
      check: 'limits',
      detail:
        'Each instance counts requests separately, so with several, a key gets its full limit on each. Set REDIS_URL to share one count.',
    });
  }
  // A number, even 0, is a deliberate choice.
  const namesNoProxy = typeof trustedProxies !== 'number' && trustedProxies.length === 0;
  if (baseUrl?.startsWith('https:') && namesNoProxy) {
    warnings.push({
      check: 'proxies',
      detail:
        'BASE_URL is https, so there is a proxy in front, and all clients count as one address. Set TRUSTED_PROXIES to tell them apart.',
    });
  }
  const registered = platforms.find(({ name }) => config.platforms[name]?.clientId !== undefined);
  if (registered && !baseUrl?.startsWith('https:')) {
    const { settings, title } = registered;
    warnings.push({
      check: 'public address',
      detail: `${settings.clientId} is set, but BASE_URL is not an https address: ${title} sends owners who connect their shop back to it, and webhooks only to https. Set BASE_URL to the public address.`,
    });
  }
  return warnings;
}
