import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { UsageError, describeError } from '../errors.ts';
import { linesPerServerTransaction } from '../ingest/import.ts';
import { type Log, redact } from '../log/log.ts';
import { readCredentials } from '../platforms/credentials.ts';
import { realPauses } from '../platforms/pauses.ts';
import type { Credentials, Platform, SyncOptions, SyncReport } from '../platforms/platform.ts';
import { platforms } from '../platforms/registry.ts';
import { SyncLoop, type Turn } from '../platforms/sync/sync-loop.ts';
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
    summary: `keeps shops as they are in ${title}, until it is told to stop`,
    details: [
      `--shop       one shop; all of ${settings.credentialsFile} if left out`,
      '--once       brings what changed, or everything the first time, and ends',
      `--full       brings everything, deletes what ${title} does not have, and ends`,
      '--interval   seconds between two looks at a shop (120)',
      `--take-over  also where a shop has data that did not come from this ${title} shop`,
      `Everything is brought once a day in any case. docs/${name}.md says more.`,
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
      const whole = options['full'] === true;
      const isOnce = options['once'] === true || whole;
      if (!isOnce) setLastResort(logLastResort(log));
      const stopping = new AbortController();
      void stopSignal().then((signal) => stopping.abort(new Stopped(signal)));
      const parts = { config, log, shops, signal: stopping.signal };
      try {
        const round = await prepareRounds(platform, parts, {
          whole,
          takeOver: options['take-over'] === true,
        });
        if (isOnce) return await round(showTurn);
        const report = (turn: Turn) => logTurn(log, turn);
        await round(report);
        for (;;) {
          // Up to a tenth more or less, so that several do not look in step.
          const pause = intervalSeconds * 1000 * (0.9 + realPauses.random() / 5);
          await realPauses.wait(pause, stopping.signal);
          // The database may be away for a while.
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

/** The process is to end; the reason of the signal that everything in progress learns it by. */
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
 * Makes a function that gives each shop its turn once and returns the worst exit status of all. The store is
 * open during a round only: the embedded one is there for others in between, and may be run by others the
 * next time.
 */
async function prepareRounds(
  platform: Platform,
  { config, log, shops, signal }: RoundParts,
  options: SyncOptions,
): Promise<(report: (turn: Turn) => void) => Promise<number>> {
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
      for await (const turn of loop.round(store, shops, options)) {
        report(turn);
        isAnyFailed ||= turn.kind === 'failed';
        isAnyRefused ||= turn.kind === 'synced' && turn.report.refused > 0;
      }
      if (isAnyFailed) return failed;
      return isAnyRefused ? exitStatus.someRefused : exitStatus.done;
    });
}

/** For a person who waits for the end of one round. */
function showTurn(turn: Turn): void {
  if (turn.kind === 'synced') print(describe(turn.shop, turn.report));
  else tell(redact(`retention: shop ${turn.shop}: ${turn.reason}`));
}

/** The loop's own line about a shop that was synced is in the log already. */
function logTurn(log: Log, turn: Turn): void {
  if (turn.kind === 'paused') log.warn({ shop: turn.shop }, turn.reason);
  if (turn.kind === 'failed') log.error({ shop: turn.shop, reason: turn.reason }, 'sync failed');
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
