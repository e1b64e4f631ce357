import { rights } from '../../accounts/rights.ts';
import { type Mailer, MailRefused } from '../../mail/mailer.ts';
import { day, monthBefore } from '../../metrics/bounds.ts';
import { toSummary } from '../../metrics/figures.ts';
import { listHistory } from '../../metrics/history.ts';
import { summariseMetrics } from '../../metrics/summary.ts';
import type { OwnerParts } from '../pages.ts';
import {
  type Limit,
  type Recipient,
  claimRecipient,
  releaseRecipient,
} from '../../store/owners/notifications.ts';
import { insertEvent } from '../../store/owners/events.ts';
import { type Shop, findShop } from '../../store/shops.ts';
import { readJudged } from '../dashboard/dashboard.ts';
import { composeAlert, listExceeded, composeDigest, usualDays } from './letters.ts';
import { type Letter, toMessage } from './message.ts';
import { isoDay, viewOf } from '../view/view.ts';

/** The hour of the UTC day, or of Monday, from which mail about what has ended is sent: late records have come by then. */
const sendingHour = 6;
const intervalMilliseconds = 300_000;
/** Longer than a recipient takes; if the process dies, another one takes over. */
const claimMilliseconds = 600_000;

interface SenderParts extends Pick<OwnerParts, 'store' | 'clock' | 'log'> {
  readonly mailer: Mailer;
  /** Of the service. */
  readonly baseUrl: string;
}

/** The ends of the last UTC week, from Monday to Sunday, and of the last UTC day that are told about. */
export function lastEnds(now: number): { readonly week: Date; readonly day: Date } {
  const today = Math.floor((now - sendingHour * 3_600_000) / day) * day;
  const sinceMonday = (new Date(today).getUTCDay() + 6) % 7;
  return { week: new Date(today - sinceMonday * day), day: new Date(today) };
}

/** Sends digests and alerts when they are due. Of several instances, one sends each of them. */
export class NotificationSender {
  readonly #mailer: Mailer;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void>;

  constructor(parts: SenderParts) {
    this.#mailer = parts.mailer;
    const run = () => sendDue(parts, this.#closing.signal);
    this.#running = run();
    this.#timer = setInterval(
      () => (this.#running = this.#running.then(run)),
      intervalMilliseconds,
    ).unref();
  }

  /** Resolves once the message in progress has been sent, and the database is no longer in use. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#running;
    this.#mailer.close();
  }
}

/** Sends everything that is due. What fails is tried again when the reservation has ended. */
export async function sendDue(parts: SenderParts, signal?: AbortSignal): Promise<void> {
  const { store, clock, log } = parts;
  let last: Recipient | undefined;
  try {
    for (;;) {
      if (signal?.aborted) return;
      const now = clock.now();
      const ends = lastEnds(now);
      const claim = { now: new Date(now), until: new Date(now + claimMilliseconds) };
      const due = { ...ends, roles: rights.figures };
      last = await claimRecipient(store.write, due, claim, last);
      if (last === undefined) return;
      await tell(parts, last, ends);
    }
  } catch (error) {
    log.warn({ err: error }, 'could not send digests and alerts, will retry');
  }
}

async function tell(
  parts: SenderParts,
  recipient: Recipient,
  ends: ReturnType<typeof lastEnds>,
): Promise<void> {
  const { store } = parts;
  const shop = await findShop(store.primaryOf(recipient.shopId).keys, recipient.shopId);
  let exceeded: readonly Limit[] = recipient.exceeded;
  if (shop && recipient.digest && recipient.digestUntil < ends.week) {
    const digest = await readDigest(parts, shop, ends.week.getTime());
    if (digest) await send(parts, recipient, shop, digest);
  }
  if (shop && recipient.alertsUntil < ends.day) {
    const read = await readDay(parts, shop, ends.day.getTime());
    const alert = composeAlert({ shop, choice: recipient, known: exceeded, ...read });
    if (alert) {
      await send(parts, recipient, shop, alert);
      const [at, detail] = [new Date(ends.day.getTime() - day), alert.sentences.join(' ')];
      await insertEvent(store.write, shop.id, { at, kind: 'alert', detail });
    }
    exceeded = listExceeded(recipient, read.summary);
  }
  await releaseRecipient(store.write, recipient, { ...ends, exceeded });
}

type Reading = Pick<SenderParts, 'store' | 'clock'>;

/** @param until the end of the week, epoch milliseconds @returns undefined for a shop without data */
export async function readDigest(
  { store, clock }: Reading,
  shop: Shop,
  until: number,
): Promise<Letter | undefined> {
  const days = { from: isoDay(until - 7 * day), to: isoDay(until - day) };
  const view = viewOf(new URLSearchParams(days), clock.now());
  const [judged] = (await readJudged(store, shop, view, () => Promise.resolve())) ?? [];
  return judged && composeDigest(shop, judged);
}

/** What alerts are about. @param until the end of the day, epoch milliseconds */
export async function readDay({ store, clock }: Reading, shop: Shop, until: number) {
  const from = until - (usualDays + 1) * day;
  const [row, days] = await store.readRecent(shop.id, (connections) =>
    Promise.all([
      summariseMetrics(connections.analyse, shop.id, clock.now(), monthBefore(until)),
      listHistory(connections, shop, { from, until }),
    ]),
  );
  return { summary: toSummary(row, shop.currency, until), days };
}

async function send(
  { mailer, baseUrl, log }: SenderParts,
  { email: to, unsubscribeSecret, ownerId }: Recipient,
  shop: Shop,
  letter: Letter,
): Promise<void> {
  try {
    await mailer.send(toMessage(letter, { to, shop, baseUrl, unsubscribeSecret }));
    log.info({ shopId: shop.id, ownerId }, 'sent a digest or an alert');
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    // Sending it again would not help, and must not hold up the others.
    log.warn({ shopId: shop.id, ownerId, reason: error.message }, 'mail was refused');
  }
}
