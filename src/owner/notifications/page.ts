import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { backTo, page } from '../ui/page.ts';
import { type ShopVisit, type OwnerPage, type OwnerParts, publicPage, shopPage } from '../pages.ts';
import { type Visit, shopPath } from '../site.ts';
import {
  type Limit,
  type NotificationChoice,
  endNotifications,
  findNotificationChoice,
  findUnsubscriber,
  limits,
  noChoice,
  upsertNotificationChoice,
  claimTest,
} from '../../store/owners/notifications.ts';
import { usualDays, composeAlert, composeDigest, exampleAlert } from './letters.ts';
import { shopDigitsOf } from '../../money.ts';
import { type Shop, findShop } from '../../store/shops.ts';
import { findByLink } from '../../accounts/links.ts';
import { newSecret } from '../../accounts/sessions.ts';
import { lastEnds, readDay, readDigest } from './sender.ts';
import { notice } from '../ui/elements.ts';
import { choiceField, inputField, postForm } from '../ui/fields.ts';
import { parseSecret } from '../cookies.ts';
import { MailRefused } from '../../mail/mailer.ts';
import { sampleFigures } from '../dashboard/empty.ts';
import { ghost } from '../framework/empty.ts';
import { viewOf } from '../view/view.ts';
import { type Letter, letterBody, toMessage } from './message.ts';

/** What owners are told by email, and how they end it. */
export function notificationPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, accounts } = parts;
  const sql = store.write;
  const open = async ({ params, address }: Pick<Visit, 'params' | 'address'>) => {
    const secret = parseSecret(params['secret']);
    if (secret === undefined) return undefined;
    return findByLink(accounts, address, () => findUnsubscriber(sql, secret));
  };
  return [
    shopPage('/notifications', {
      right: 'figures',
      acts: [],
      label: 'Email',
      hint: 'Digests and alerts',
      parent: '/app/account',
      async show(visit) {
        const { shop, session } = visit;
        const choice = (await findNotificationChoice(sql, shop.id, session.ownerId)) ?? noChoice;
        const fields = limitFieldsOf(shop);
        const texts = ofLimits((name) => {
          const value = choice[name];
          return value === null ? '' : fields[name].write(value);
        });
        return notificationsPage(parts, visit, { choice, texts, problems: {} });
      },
      async submit(visit, form) {
        const { shop, session } = visit;
        const chosen = parseForm(form, shop);
        if (Object.keys(chosen.problems).length > 0) {
          return notificationsPage(parts, visit, chosen);
        }
        const { choice } = chosen;
        await upsertNotificationChoice(sql, shop.id, session.ownerId, {
          ...choice,
          unsubscribeSecret: newSecret(),
          since: lastEnds(clock.now()),
        });
        if (!form.has('test')) return backTo(visit, '/notifications', 'saved');
        const failure = await sendTest(parts, visit, choice);
        return failure
          ? notificationsPage(parts, visit, chosen, failure)
          : backTo(visit, '/notifications', 'sent');
      },
    }),
    publicPage('/app/unsubscribe/:secret', {
      acts: [],
      // Opening it changes nothing, because mail programs open links too.
      async show(visit) {
        const found = await open(visit);
        if (!found) return unknownUnsubscribePage(visit);
        const shop = await findShop(store.primaryOf(found.shopId).keys, found.shopId);
        const content = html`<section class="card">
          <p>
            Email about ${shop?.name ?? 'this shop'} to <strong>${found.email}</strong> ends:
            digests and alerts.
          </p>
          <form method="post" action="/app/unsubscribe/${visit.params['secret'] ?? ''}">
            <button>Unsubscribe</button>
          </form>
        </section>`;
        return page(visit, { title: 'Unsubscribe', content });
      },
      async oneClick(visit) {
        const found = await open(visit);
        if (!found) return unknownUnsubscribePage(undefined);
        await endNotifications(sql, found.shopId, found.ownerId);
        const content = html`<section class="card">
          <p role="status">You get no more digests and alerts about this shop.</p>
          <p>You can choose them again on the page Email of the shop, which Account leads to.</p>
        </section>`;
        return page(undefined, { title: 'Unsubscribed', content });
      },
    }),
  ];
}

/** What a form says, and what is wrong with its fields. */
interface Chosen {
  readonly choice: NotificationChoice;
  readonly texts: Readonly<Record<Limit, string>>;
  readonly problems: Partial<Record<Limit, string>>;
}

/**
 * Where an owner chooses what they are told by email, beside what that looks like.
 * @param failure why a test mail was not sent
 */
async function notificationsPage(
  parts: OwnerParts,
  visit: ShopVisit,
  { choice, texts, problems }: Chosen,
  failure?: string,
): Promise<Answer> {
  const { shop, session } = visit;
  const isSent = parts.mailer() !== undefined;
  const [firstWrong] = Object.keys(problems);
  const fields = limitFieldsOf(shop);
  const field = (name: Limit) => {
    const text = problems[name];
    const problem = `${name}-problem`;
    const { label, hint } = fields[name];
    const error = { isInvalid: text !== undefined, getsFocus: name === firstWrong, problem };
    return html`${text && html`<p class="alert" role="alert" id="${problem}">${text}</p>`}
    ${inputField(
      { id: name, label, hint, value: texts[name], ...error },
      html`inputmode="decimal" maxlength="20" autocomplete="off"`,
    )}`;
  };
  const done = {
    saved: 'Saved.',
    sent: `Saved, and a test mail is on its way to ${session.email}.`,
  }[visit.query.get('done') ?? ''];
  const form = html`<p>
      Sent to <strong>${session.email}</strong>. Other owners of ${shop.name} choose for themselves.
      A choice counts from the next 06:00 UTC on; that of the digest from the next Monday on.
    </p>
    <fieldset>
      <legend>Every week</legend>
      ${checkbox('digest', choice.digest, 'Weekly digest', 'On Mondays after 06:00 UTC: how the week before went, and its figures beside those of the week before it.')}
    </fieldset>
    <fieldset>
      <legend>When something happens</legend>
      ${checkbox('unusual', choice.unusual, 'Unusual days', `After 06:00 UTC, if the day before had clearly more cancellations or failed payments than usual, or fewer new subscribers: more, or fewer, than any of the ${usualDays} days before it.`)}
      ${limits.map(field)}
    </fieldset>
    <p class="actions">
      <button>Save</button>
      ${isSent && html`<button class="plain" name="test" value="on">Save and send a test mail</button>`}
    </p>`;
  const previews = await readPreviews(parts, shop, choice);
  const content = html`
    ${notice(done)}
    ${
      !isSent &&
      html`<p class="notice risk">
        No email is sent at the moment, not even a test: this service has no mail server. Its
        operator sets one with <code>SMTP_URL</code>. What you choose here counts from then on.
      </p>`
    }
    <div class="settings">
      ${postForm(visit, shopPath(shop, '/notifications'), form)} ${showPreviews(visit, previews)}
    </div>
  `;
  const status = firstWrong === undefined ? undefined : 422;
  const assets = ['notifications'] as const;
  return page(visit, { title: 'Email', content, problem: failure, status, assets });
}

function checkbox(name: string, isChecked: boolean, label: string, hint: string): Html {
  const checked = isChecked ? html`checked` : undefined;
  return choiceField(
    html`type="checkbox" id="${name}" name="${name}" value="on" ${checked}`,
    html`${label} <span class="hint">${hint}</span>`,
  );
}

function unknownUnsubscribePage(visit: Visit | undefined): Answer {
  const content = html`<section class="card">
    <p>This link does not belong to any email that is sent. You get none because of it.</p>
    <p><a href="/app">Go to your shops</a></p>
  </section>`;
  return page(visit, { title: 'Nothing to unsubscribe from', content, status: 404 });
}

/** The field of a limit. */
interface LimitField {
  readonly label: string;
  readonly hint: string;
  /** What is said of any other text. */
  readonly expected: string;
  /** @returns undefined for anything but a plain decimal within its bounds */
  parse(text: string): number | undefined;
  write(value: number): string;
}

function limitFieldsOf({ currency }: Pick<Shop, 'currency'>): Readonly<Record<Limit, LimitField>> {
  const digits = shopDigitsOf(currency);
  return {
    // In percent, with the two decimals that the figure has.
    maxChurnRate: {
      label: 'Churn rate above, in percent',
      hint: 'The churn rate of the last 30 days. Empty for no limit.',
      expected: 'The limit of the churn rate must be a percentage from 0 to 100, such as 7.5.',
      parse: (text) => numberOf(text, 2, 100, 100),
      write: (value) => String(Math.round(value * 10_000) / 100),
    },
    maxOutstanding: {
      label: 'Outstanding payments above',
      hint: 'Empty for no limit.',
      expected: 'The limit of outstanding payments must be a whole number, such as 20.',
      parse: (text) => numberOf(text, 0, 2 ** 31 - 1),
      write: String,
    },
    minMrr: {
      label: `Monthly recurring revenue below, in ${currency}`,
      hint: 'Empty for no limit. You get one email when a limit is exceeded, and the next one only after the figure was within it again.',
      expected: `The limit of monthly recurring revenue must be an amount in ${currency}, such as ${(1500).toFixed(digits)}.`,
      parse: (text) => numberOf(text, digits, 10 ** 12),
      write: (value) => value.toFixed(digits),
    },
  };
}

const ofLimits = <Value>(valueOf: (name: Limit) => Value) =>
  Object.fromEntries(limits.map((name) => [name, valueOf(name)])) as Record<Limit, Value>;

/** An empty field is no limit. */
function parseForm(form: URLSearchParams, shop: Shop): Chosen {
  const fields = limitFieldsOf(shop);
  const texts = ofLimits((name) => form.get(name)?.trim() ?? '');
  const values = ofLimits((name) => (texts[name] === '' ? null : fields[name].parse(texts[name])));
  const wrong = limits.filter((name) => values[name] === undefined);
  return {
    choice: {
      digest: form.has('digest'),
      unusual: form.has('unusual'),
      ...ofLimits((name) => values[name] ?? null),
    },
    texts,
    problems: Object.fromEntries(wrong.map((name) => [name, fields[name].expected])),
  };
}

function numberOf(text: string, decimals: number, max: number, divisor = 1): number | undefined {
  const pattern =
    decimals === 0 ? /^\d{1,13}$/ : new RegExp(`^\\d{1,13}([.,]\\d{1,${decimals}})?$`);
  if (!pattern.test(text)) return undefined;
  const value = Number(text.replace(',', '.'));
  return value <= max ? value / divisor : undefined;
}

/** How long an owner waits for the next test mail. */
const testMilliseconds = 60_000;

type Previews = Awaited<ReturnType<typeof readPreviews>>;

/** The mails that would have been sent last. @returns undefined for a shop without data */
async function readPreviews(
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
function showPreviews(visit: ShopVisit, previews: Previews): Html {
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
async function sendTest(
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
