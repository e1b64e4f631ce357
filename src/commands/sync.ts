import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { UsageError, describeError } from '../errors.ts';
import { linesPerServerTransaction } from '../ingest/import.ts';
import { type Log, redact } from '../log/log.ts';
import { readCredentials } from '../platforms/credentials.ts';
import { realPauses } from '../platforms/pauses.ts';
import type { Credentials, Platform, SyncOptions, SyncReport } from '../platforms/platform.ts';
import { platforms } from '../platforms/registry.ts';
import { SyncLoop, type SyncOutcome } from '../platforms/sync/sync-loop.ts';
import { lockShop } from '../store/shop-lock.ts';
import { type Command, exitStatus, parseId, print, tell, withStore } from './command.ts';
import { logLastResort, setLastResort } from './serve/last-resort.ts';
import { stopSignal } from './serve/stop-signal.ts';

const failed = 1;

export const syncCommands: readonly Command[] = platforms.map(syncCommand);

function syncCommand(platform: Platform): Command {
  const { name, title, settings } = platform;
  return {
    name: `sync ${name}`,
    synopsis: '[--shop ID] [--once] [--full] [--interval SECONDS] [--take-over]',
    summary: `keeps shops in sync with ${title} until stopped`,
    details: [
      `--shop       one shop; by default, all shops in ${settings.credentialsFile}`,
      '--once       syncs what changed, or everything the first time, and exits',
      `--full       syncs everything, deletes what ${title} does not have, and exits`,
      '--interval   seconds between two syncs of a shop (120)',
      `--take-over  also syncs shops with data that did not come from this ${title} shop`,
      `Everything is synced once a day in any case. See docs/${name}.md.`,
    ],
    options: {
      shop: { type: 'string' },
      once: { type: 'boolean' },
      full: { type: 'boolean' },
      interval: { type: 'string', default: '120' },
      'take-over': { type: 'boolean' },
    },
    async run({ config, log, options }) {
      const intervalSeconds = parseInterval(String(options['interval']));
      const shops = await requestedShops(platform, config, options['shop']);
      const full = options['full'] === true;
      const isOnce = options['once'] === true || full;
      if (!isOnce) setLastResort(logLastResort(log));
      const stopping = new AbortController();
      void stopSignal().then((signal) => stopping.abort(new Stopped(signal)));
      const parts = { config, log, shops, signal: stopping.signal };
      try {
        const round = await prepareRounds(platform, parts, {
          full,
          takeOver: options['take-over'] === true,
        });
        if (isOnce) return await round(showOutcome);
        const report = (outcome: SyncOutcome) => logOutcome(log, outcome);
        await round(report);
        for (;;) {
          // Varies by up to a tenth, so that several processes do not sync in step.
          const pause = intervalSeconds * 1000 * (0.9 + realPauses.random() / 5);
          await realPauses.wait(pause, stopping.signal);
          // The database may be down for a while.
          await round(report).catch((error: unknown) => {
            stopping.signal.throwIfAborted();
            log.error({ reason: describeError(error) }, 'sync failed');
          });
        }
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
        log.info({ signal: error.message }, 'stopping');
        return exitStatus.done;
      } finally {
        log.flush();
      }
    },
  };
}

/** The abort reason when the process is asked to stop. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

interface RoundParts {
  readonly config: Config;
  readonly log: Log;
  readonly shops: readonly Credentials[];
  readonly signal: AbortSignal;
}

/**
 * Returns a function that syncs each shop once and returns the worst exit status. The store is open
 * only during a round, so that other processes can run the embedded database in between.
 */
async function prepareRounds(
  platform: Platform,
  { config, log, shops, signal }: RoundParts,
  options: SyncOptions,
): Promise<(report: (outcome: SyncOutcome) => void) => Promise<number>> {
  const loop = new SyncLoop({
    platform,
    code: await platform.load(),
    clock: systemClock,
    log,
    signal,
    linesPerTransaction: config.databaseUrl === undefined ? undefined : linesPerServerTransaction,
    lock: (store, shopId) => lockShop(store.write, config, 'sync', shopId),
  });
  return (report) =>
    withStore(config, async (store) => {
      let [isAnyFailed, isAnyRefused] = [false, false];
      for await (const outcome of loop.round(store, shops, options)) {
        report(outcome);
        isAnyFailed ||= outcome.kind === 'failed';
        isAnyRefused ||= outcome.kind === 'synced' && outcome.report.refused > 0;
      }
      if (isAnyFailed) return failed;
      return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
    });
}

/** Shows the result to a person who waits for it. */
function showOutcome(outcome: SyncOutcome): void {
  if (outcome.kind === 'synced') print(describe(outcome.shop, outcome.report));
  else tell(redact(`retention: shop ${outcome.shop}: ${outcome.reason}`));
}

/** The loop itself logs shops that were synced. */
function logOutcome(log: Log, outcome: SyncOutcome): void {
  if (outcome.kind === 'paused') log.warn({ shop: outcome.shop }, outcome.reason);
  if (outcome.kind === 'failed')
    log.error({ shop: outcome.shop, reason: outcome.reason }, 'sync failed');
}

function describe(shop: number, { kind, read, written, refused, deleted }: SyncReport): string {
  const parts = Object.entries(read).map(([what, count]) =>
    kind === 'whole' ? `all ${count} ${what}` : `${count} changed ${what}`,
  );
  return `Shop ${shop}: read ${parts.join(', ')}; ${written} records written, ${deleted} deleted, ${refused} lines refused.`;
}

function parseInterval(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > 86_400) {
    throw new UsageError(`--interval must be whole seconds from 1 to 86400, not "${text}".`);
  }
  return seconds;
}

async function requestedShops(
  platform: Platform,
  { platforms: configs }: Config,
  requested: string | boolean | undefined,
): Promise<readonly Credentials[]> {
  const id = typeof requested === 'string' ? parseId(requested, '--shop') : undefined;
  const file = configs[platform.name]?.credentialsFile;
  if (file === undefined) {
    throw new UsageError(
      `${platform.settings.credentialsFile} is not set: it names the file with the shops and their access tokens.`,
    );
  }
  const all = await readCredentials(platform, file);
  const chosen = all.filter(({ shop }) => id === undefined || shop === id);
  if (chosen.length === 0) throw new UsageError(`Shop ${id} is not in ${file}.`);
  return chosen;
}
