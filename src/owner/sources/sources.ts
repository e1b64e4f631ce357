import type { Actor } from '../../acts.ts';
import { CommandError, UsageError, describeError } from '../../errors.ts';
import { realBackoff } from '../../platforms/backoff.ts';
import type { ConnectParts } from '../../platforms/connect.ts';
import { Sealing } from '../../platforms/credentials/sealing.ts';
import { PlatformError } from '../../platforms/errors.ts';
import type {
  ConnectedShop,
  Authorization,
  Platform,
  PlatformApp,
} from '../../platforms/platform.ts';
import { feedsOf, platforms, feedLabel } from '../../platforms/registry.ts';
import { type OpenPlatform, appOf, openPlatform } from '../../platforms/open.ts';
import { type FeedStatus, listFeeds } from '../../store/feeds/feeds.ts';
import { type SyncState, findSyncState } from '../../store/feeds/platforms.ts';
import { type StreamState, listStreams } from '../../store/feeds/streams.ts';
import { type RefusedRecords, refusedRecordsOf } from '../../platforms/intake.ts';
import { countSubscriptions } from '../../store/records/subscriptions.ts';
import { type Html, html } from '../../http/html.ts';
import { countOf, showTime } from '../ui/formats.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import type { Visit } from '../site.ts';
import { plainTable } from '../ui/table.ts';

/** How the data of a connected shop arrives. */
export type SourceStatus =
  /** The first sync is not complete yet. */
  | { readonly kind: 'first'; readonly subscriptions: number }
  /** Connected again, and not synced since. */
  | { readonly kind: 'resuming'; readonly completedAt: Date }
  | { readonly kind: 'current' | 'late'; readonly completedAt: Date }
  /** Why, in words for the owner; null if only the operator understands it. isDue: it is about to be tried again. */
  | { readonly kind: 'failing'; readonly reason: string | null; readonly isDue: boolean }
  /** The platform no longer accepts the credentials; the shop must be connected again. */
  | { readonly kind: 'ended'; readonly reason: string | null }
  /** Its owner has yet to start it. */
  | { readonly kind: 'draft' };

/** A platform as the owner of a shop sees it; only the operator can connect shops without authorization and form. */
export type Source = {
  readonly platform: Platform;
  /** Undefined if its owner is not asked at the platform. */
  readonly authorization: Authorization | undefined;
} & (
  | {
      readonly state: 'off';
      /** The variables that the operator must set before owners can connect their shops. */
      readonly missing: readonly string[];
    }
  | { readonly state: 'free' }
  | ConnectedSource
);

interface ConnectedSource extends Pick<ConnectedShop, 'origin' | 'account'> {
  readonly state: 'connected';
  /** Undefined if the operator connected the shop. */
  readonly connectedAt: Date | undefined;
  readonly status: SourceStatus;
  /** What is read of it, if its platform reads streams. */
  readonly streams: readonly StreamState[];
  /** Undefined if none was refused lately. */
  readonly refused: RefusedRecords | undefined;
}

/** Whether a source was pasted, and its owner has yet to start it. */
export const isDraft = (source: Source) =>
  source.state === 'connected' && source.status.kind === 'draft';

type SourcesParts = Pick<OwnerParts, 'store' | 'clock' | 'log' | 'platforms' | 'backoff'>;

/** What went wrong, for the log and in words for the owner. */
export interface FailedAttempt {
  readonly reason: string;
  readonly text: string;
  /** The field of the form that it is about, if that is not the first. */
  readonly field?: string | undefined;
}

/** How long an owner waits for a platform at most, with retries. */
const attemptMilliseconds = 15_000;

/** Syncs are minutes apart; one after a failure, up to an hour. */
const lateMilliseconds = 3_600_000;

/** The platforms that owners can connect their shops to. */
export class Sources {
  readonly #parts: SourcesParts;
  readonly #opened = new Map<string, Promise<OpenPlatform>>();

  constructor(parts: SourcesParts) {
    this.#parts = parts;
  }

  list(shopId: number): Promise<Source[]> {
    return Promise.all(platforms.map((platform) => this.#read(platform, shopId)));
  }

  async find(shopId: number, name: string | undefined): Promise<Source | undefined> {
    const platform = platforms.find((each) => each.name === name);
    return platform && this.#read(platform, shopId);
  }

  /** Opens a platform when it is first needed, and again only if that failed. */
  open(platform: Platform): Promise<OpenPlatform> {
    const { platforms: config, clock, log } = this.#parts;
    const { signal } = new AbortController();
    const opened =
      this.#opened.get(platform.name) ?? openPlatform(platform, { config, clock, log, signal });
    this.#opened.set(platform.name, opened);
    opened.catch(() => this.#opened.delete(platform.name));
    return opened;
  }

  /**
   * Does for an owner what asks a platform.
   * @returns undefined if it succeeded
   */
  async attempt(
    platform: Platform,
    by: Actor,
    work: (parts: ConnectParts) => Promise<unknown>,
  ): Promise<FailedAttempt | undefined> {
    const { store, clock, log, platforms: config, backoff = realBackoff } = this.#parts;
    const signal = AbortSignal.timeout(attemptMilliseconds);
    const app = this.appOf(platform);
    const { sourceNetworks } = config;
    try {
      await work({
        opened: await this.open(platform),
        sql: store.write,
        sealing: new Sealing(config.credentialsKeys),
        baseUrl: config.platforms[platform.name]?.baseUrl,
        context: { app, sourceNetworks, clock, log, signal, backoff },
        by,
      });
      return undefined;
    } catch (error) {
      const reason = describeError(error);
      const isSilent =
        signal.aborted ||
        (error instanceof PlatformError && error.kind === 'unavailable' && !platform.form);
      if (isSilent) {
        return { reason, text: `${platform.title} does not answer. Try again in a minute.` };
      }
      if (error instanceof PlatformError) {
        return { reason, text: error.reason, field: error.field };
      }
      if (error instanceof CommandError) return { reason, text: error.message };
      if (error instanceof UsageError) {
        // What a developer wrote, such as a mapping.
        const field = platform.form?.fields.find(({ isJson }) => isJson)?.name;
        return { reason, text: error.message, field };
      }
      throw error;
    }
  }

  /** The service as the platform's app; undefined unless owners can connect their shops. */
  appOf(platform: Platform): PlatformApp | undefined {
    const { platforms: config } = this.#parts;
    return this.#missing(platform).length === 0
      ? appOf(config.platforms[platform.name])
      : undefined;
  }

  async #read(platform: Platform, shopId: number): Promise<Source> {
    const { code, shops } = await this.open(platform);
    const { authorization } = code;
    const connected = await shops.find(this.#parts.store.write, shopId);
    if (connected) {
      const { origin, account, connectedAt } = connected;
      const sql = this.#parts.store.write;
      const [sync, streams] = await Promise.all([
        findSyncState(sql, shopId, platform.name),
        listStreams(sql, shopId, platform.name),
      ]);
      const status = await this.#statusOf(platform, connected, sync);
      const refused = sync && refusedRecordsOf(sync);
      const about = { origin, account, connectedAt, status, streams, refused };
      return { platform, authorization, state: 'connected', ...about };
    }
    const missing = this.#missing(platform);
    return (authorization ?? platform.form) && missing.length === 0
      ? { platform, authorization, state: 'free' }
      : { platform, authorization, state: 'off', missing };
  }

  async #statusOf(
    platform: Platform,
    { shop, connectedAt = new Date(0), draft = null }: ConnectedShop,
    sync: SyncState | undefined,
  ): Promise<SourceStatus> {
    if (draft !== null) return { kind: 'draft' };
    const { store, clock } = this.#parts;
    const sql = store.write;
    const { code } = await this.open(platform);
    const [feeds, pause] = await Promise.all([listFeeds(sql, shop), code.findPause?.(sql, shop)]);
    const reason = sync?.reason ?? null;
    if (sync?.refusedAt || pause !== undefined) return { kind: 'ended', reason };
    if (sync?.problem) {
      return { kind: 'failing', reason, isDue: sync.dueAt.getTime() <= clock.now() };
    }
    const feed = feeds.find((each) => each.feed === feedsOf(platform).sync);
    const completedAt = feed?.completedAt;
    if (!completedAt) return { kind: 'first', subscriptions: await countSubscriptions(sql, shop) };
    if (completedAt < connectedAt) return { kind: 'resuming', completedAt };
    const isLate = clock.now() - completedAt.getTime() > lateMilliseconds;
    return { kind: isLate ? 'late' : 'current', completedAt };
  }

  #missing({ name, settings }: Platform): string[] {
    const { platforms: configs, credentialsKeys } = this.#parts.platforms;
    const { clientId, webhookSecrets = [] } = configs[name] ?? {};
    return [
      ...(clientId === undefined && settings.clientId !== undefined ? [settings.clientId] : []),
      ...(webhookSecrets.length === 0 && settings.webhookSecrets !== undefined
        ? [settings.webhookSecrets.variable]
        : []),
      ...(credentialsKeys.length === 0 ? ['CREDENTIALS_KEY'] : []),
    ];
  }
}

/** When any feed last received data. */
export function lastArrival(feeds: readonly FeedStatus[]): Date | undefined {
  const times = feeds.flatMap(({ arrivedAt }) => arrivedAt ?? []);
  return times.toSorted((one, other) => one.getTime() - other.getTime()).at(-1);
}

/** Why figures of periods leave subscriptions out. */
export function undatedNote(visit: ShopVisit, count: number): Html | undefined {
  if (count === 0) return undefined;
  return html`<p class="quiet">
    ${countOf(visit, count, 'subscription has', 'subscriptions have')} ended or paused, but the data
    does not say when. They are left out of the figures of periods, such as churn, until it does.
  </p>`;
}

/** Shows data freshness by source. */
export function arrivals(
  visit: Visit,
  feeds: readonly FeedStatus[],
  { title = 'Data sources', link }: { readonly title?: string; readonly link?: Html } = {},
): Html {
  const time = (at: Date | null) => (at ? showTime(visit, at) : 'Not yet');
  return html`<section class="arrivals">
    <header>
      <h2>${title}</h2>
      ${link}
    </header>
    ${plainTable(
      feeds,
      [
        ['Source', ({ feed }) => feedLabel(feed), 'head'],
        ['Last received', ({ arrivedAt }) => time(arrivedAt)],
        ['Newest change', ({ newestAt }) => time(newestAt)],
        ['Last completed', ({ completedAt }) => time(completedAt)],
      ],
      { look: 'brief' },
    )}
  </section>`;
}
