import { systemClock } from '../../../clock.ts';
import { CommandError, UsageError } from '../../../errors.ts';
import { createLog } from '../../../log/log.ts';
import { PlatformError } from '../../../platforms/errors.ts';
import type { Credentials, Suggested } from '../../../platforms/platform.ts';
import { findPlatform } from '../../../platforms/registry.ts';
import type { Unusable } from './examine.ts';

export interface SuggestRequest {
  /** The platform's name. */
  readonly platform: string;
  /** The credentials that an owner has pasted. */
  readonly given: Credentials;
  readonly currency: string;
  readonly sourceNetworks: readonly string[];
}

/** Looks at what a source has. Mappings are guessed, which takes seconds of processor time. */
export async function suggestSource(request: SuggestRequest): Promise<Suggested | Unusable> {
  const { given, currency, sourceNetworks } = request;
  const code = await findPlatform(request.platform)?.load();
  if (!code?.suggest) throw new Error(`${request.platform} suggests nothing.`);
  const log = createLog('silent', { write: () => {} });
  const context = { app: undefined, sourceNetworks, clock: systemClock, log };
  try {
    return await code.suggest(given, currency, context);
  } catch (error) {
    if (error instanceof PlatformError) return { problem: error.reason };
    if (error instanceof CommandError || error instanceof UsageError) {
      return { problem: error.message };
    }
    throw error;
  }
}
