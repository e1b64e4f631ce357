import { systemClock } from '../../../clock.ts';
import { describeError } from '../../../errors.ts';
import type { ImportShop } from '../../../ingest/apply.ts';
import type { ImportCounts } from '../../../ingest/import.ts';
import type { Line } from '../../../ingest/lines.ts';
import { createLog } from '../../../log/log.ts';
import { type Preview, previewLines } from '../../../mapping/suggest/preview.ts';
import { type Figures, rehearse } from '../../../metrics/rehearse.ts';
import { PlatformError } from '../../../platforms/errors.ts';
import type { Credentials } from '../../../platforms/platform.ts';
import { findWhyNotTaken } from '../../../platforms/keeper.ts';
import { feedsOf, findPlatform } from '../../../platforms/registry.ts';
import { RefusalList } from '../refusals.ts';
import type { ImportEnd, Report } from './import-file.ts';
import { openDatabase } from './database.ts';
import { failedHere, reportMilliseconds } from './limits.ts';

/** What the first sync of a source would do. */
export interface SyncRequest {
  /** Where the database is. */
  readonly database: string;
  readonly shop: ImportShop;
  /** The platform's name. */
  readonly platform: string;
  readonly account: string;
  readonly baseUrl: string | undefined;
  /** Changes when the shop is connected anew. */
  readonly version: string;
  readonly credentials: Credentials;
  readonly sourceNetworks: readonly string[];
}

export interface SyncEnd extends ImportEnd {
  /** What the first rows become; undefined if none was read. */
  readonly preview: Preview | undefined;
}

interface Running {
  readonly signal: AbortSignal;
  report(report: Report): void;
}

/** A copy of more takes too long to fill. */
const maxRows = 20_000;
const shownRows = 500;

const tooLarge = new PlatformError(
  'refused',
  `There are more than ${maxRows.toLocaleString('en')} rows, too many to rehearse the first sync.`,
);

/** Syncs a source into a copy of the shop, so that nothing is stored. */
export async function rehearseSync(
  request: SyncRequest,
  { signal, report }: Running,
): Promise<SyncEnd> {
  const { shop, account, baseUrl, version, credentials, sourceNetworks } = request;
  const counts: ImportCounts = {};
  const refusals = new RefusalList();
  const first: Line[] = [];
  let rows = 0;
  const progress = () => report({ kind: 'progress', progress: { percent: 0, counts } });
  const timer = setInterval(progress, reportMilliseconds);
  const { sql, isEmbedded, close } = openDatabase(request.database, 'rehearsal');
  let failure: ImportEnd['failure'];
  let figures: Figures | undefined;
  let idColumns: readonly string[] = [];
  try {
    const platform = findPlatform(request.platform);
    if (!platform) throw new Error(`There is no platform ${request.platform}.`);
    const code = await platform.load();
    const parts = (await code.partsOf?.(credentials)) ?? [];
    idColumns = parts.find(({ types }) => types.includes('subscription'))?.key ?? [];
    const log = createLog('silent', { write: () => {} });
    const read = async () => credentials;
    const connected = {
      shop: shop.id,
      account,
      baseUrl,
      version,
      origin: 'database',
      credentials: { read, renew: read },
    } as const;
    const whyNotTaken = await findWhyNotTaken(sql, shop.id, platform);
    figures = await rehearse(sql, shop, { isEmbedded, signal }, async (copy, clock) => {
      const context = { app: undefined, sourceNetworks, clock, log, signal };
      const intake = {
        sql: copy,
        shop,
        feed: feedsOf(platform).sync,
        clock,
        log,
        signal,
        counts,
        whyNotTaken,
        refused: (reason: string, line: Line, record?: string) =>
          refusals.add(line.number, reason, record),
        arrived(lines: readonly Line[]) {
          rows += lines.length;
          first.push(...lines.slice(0, shownRows - first.length));
          if (rows > maxRows) throw tooLarge;
        },
      };
      await code.connect(connected, context).sync(intake, { full: true, takeOver: true });
    });
  } catch (error) {
    const problem = error instanceof PlatformError ? error.reason : failedHere;
    failure = { problem, reason: describeError(error) };
  } finally {
    clearInterval(timer);
    await close();
  }
  const preview = first.length === 0 ? undefined : await previewOf(first, shop, idColumns);
  const refused = JSON.stringify(refusals.all);
  return { isStopped: false, failure, counts, refused, skipped: 0, figures, preview };
}

function previewOf(
  first: readonly Line[],
  shop: ImportShop,
  idColumns: readonly string[],
): Promise<Preview> {
  async function* lines() {
    yield first;
  }
  const head = { bytes: Buffer.alloc(0), isWhole: true };
  const context = { shop, clock: systemClock, isFromFeed: true, idColumns };
  return previewLines(lines(), head, context);
}
