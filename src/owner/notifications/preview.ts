import { type Html, html } from '../../http/html.ts';
import { MailRefused } from '../../mail/mailer.ts';
import { type NotificationChoice, claimTest, limits } from '../../store/owners/notifications.ts';
import type { Shop } from '../../store/shops.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { shopPath } from '../site.ts';
import { sampleFigures } from '../dashboard/empty.ts';
import { ghost } from '../framework/empty.ts';
import { viewOf } from '../view/view.ts';
import { composeAlert, composeDigest, exampleAlert } from './letters.ts';
import { type Letter, letterBody, toMessage } from './message.ts';
import { lastEnds, readDay, readDigest } from './sender.ts';

/** How long an owner waits for the next test mail. */
const testMilliseconds = 60_000;

type Previews = Awaited<ReturnType<typeof readPreviews>>;

/** The mails that would have been sent last. @returns undefined for a shop without data */
export async function readPreviews(
  parts: Pick<OwnerParts, 'store' | 'clock'>,
  shop: Shop,
  choice: NotificationChoice,
) {
  const { week, day } = lastEnds(parts.clock.now());
  const [digest, read] = await Promise.all([
    readDigest(parts, shop, week.getTime()),
    readDay(parts, shop, day.getTime()),
  ]);
  const alert = composeAlert({ shop, choice, known: [], ...read });
  const shown = alert ?? exampleAlert(shop, read);
  // An example is about a day that could have been.
  return digest && shown && { digest, alert: shown, isExample: alert === undefined };
}

/** The mails as they are sent. */
export function showPreviews(visit: ShopVisit, previews: Previews): Html {
  const show = (title: string, letter: Letter) =>
    html`<section class="letter">
      <h2>${title}</h2>
      <p class="quiet">Subject: ${visit.shop.name}: ${letter.subject}</p>
      <div>
        ${letterBody(
          letter,
          visit.shop.name,
          letter.links.map(({ path }) => shopPath(visit.shop, path)),
        )}
      </div>
    </section>`;
  if (!previews) {
    const week = new URLSearchParams({ from: '2026-01-19', to: '2026-01-25' });
    const sample = sampleFigures(visit.shop, viewOf(week, Date.parse('2026-01-31')));
    return ghost(show('A digest', composeDigest(visit.shop, sample)));
  }
  const { digest, alert, isExample } = previews;
  return html`<div>
    ${show('The last digest', digest)}
    ${show(isExample ? 'An alert, as an example' : 'The last alert', alert)}
  </div>`;
}

/**
 * Sends an owner what they chose, to their own address only.
 * @returns why it was not sent
 */
export async function sendTest(
  parts: OwnerParts,
  { shop, session }: ShopVisit,
  choice: NotificationChoice,
): Promise<string | undefined> {
  const { store, clock, log } = parts;
  const mailer = parts.mailer();
  if (!mailer) return 'No test mail was sent: this service has no mail server.';
  const now = clock.now();
  const claim = { now: new Date(now), until: new Date(now + testMilliseconds) };
  const unsubscribeSecret = await claimTest(store.write, shop.id, session.ownerId, claim);
  if (unsubscribeSecret === undefined) {
    return 'Saved, but no test mail was sent: the last one was less than a minute ago. Try again in a minute.';
  }
  const previews = await readPreviews(parts, shop, choice);
  const isAboutAlerts =
    !choice.digest && (choice.unusual || limits.some((limit) => choice[limit] !== null));
  const letter = isAboutAlerts ? previews?.alert : previews?.digest;
  const { subject, ...rest } = letter ?? nothingYet;
  const test = {
    ...rest,
    subject: `test, ${subject}`,
    sentences: ['This is a test.', ...rest.sentences],
  };
  const envelope = { to: session.email, shop, baseUrl: parts.baseUrl(), unsubscribeSecret };
  try {
    await mailer.send(toMessage(test, envelope));
    log.info({ shopId: shop.id, ownerId: session.ownerId }, 'sent a test mail');
  } catch (error) {
    log.warn({ shopId: shop.id, ownerId: session.ownerId, err: error }, 'test mail was not sent');
    return error instanceof MailRefused
      ? `Saved, but the mail server refuses to send mail to ${session.email}: ${error.message}`
      : 'Saved, but the mail server could not be reached. Try again in a minute, or tell the operator of this service.';
  }
}

const nothingYet: Letter = {
  subject: 'no data yet',
  sentences: ['The shop has no data yet.'],
  links: [{ label: 'See the shop', path: '' }],
};
