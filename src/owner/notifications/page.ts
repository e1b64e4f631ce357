import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { backTo, page } from '../ui/page.ts';
import { type ShopVisit, type OwnerPage, type OwnerParts, publicPage, shopPage } from '../pages.ts';
import { type Visit, shopPath } from '../site.ts';
import {
  type NotificationChoice,
  type Unsubscriber,
  endNotifications,
  findNotificationChoice,
  findUnsubscriber,
  noChoice,
  upsertNotificationChoice,
} from '../../store/owners/notifications.ts';
import { usualDays } from './letters.ts';
import { shopDigitsOf } from '../../money.ts';
import { type Shop, findShop } from '../../store/shops.ts';
import { findByLink } from '../../accounts/links.ts';
import { newSecret } from '../../accounts/sessions.ts';
import { lastEnds } from './sender.ts';
import { notice } from '../ui/elements.ts';
import { choiceField, inputField, postForm, token } from '../ui/fields.ts';
import { type Previews, readPreviews, sendTest, showPreviews } from './preview.ts';
import { parseSecret } from '../cookies.ts';

/** What owners are told by email, and how they end it. */
export function notificationPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, accounts } = parts;
  const sql = store.write;
  const open = async ({
    params,
    address,
  }: Pick<Visit, 'params' | 'address'>): Promise<Unsubscriber | undefined> => {
    const secret = parseSecret(params['secret']);
    if (secret === undefined) return undefined;
    return findByLink(accounts, address, () => findUnsubscriber(sql, secret));
  };
  const show = async (visit: ShopVisit, chosen: Chosen) => {
    const previews = await readPreviews(parts, visit.shop, chosen.choice);
    return notificationsPage(visit, { ...chosen, previews, isSent: parts.mailer() !== undefined });
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
        return show(visit, { choice, texts: textsOf(choice, shop) });
      },
      async submit(visit, form) {
        const { shop, session } = visit;
        const { choice, texts, problems } = parseForm(form, shop);
        if (Object.keys(problems).length > 0) return show(visit, { choice, texts, problems });
        await upsertNotificationChoice(sql, shop.id, session.ownerId, {
          ...choice,
          unsubscribeSecret: newSecret(),
          since: lastEnds(clock.now()),
        });
        if (!form.has('test')) return backTo(visit, '/notifications', 'saved');
        const failure = await sendTest(parts, visit, choice);
        if (failure) return show(visit, { choice, texts, failure });
        return backTo(visit, '/notifications', 'sent');
      },
    }),
    publicPage('/app/unsubscribe/:secret', {
      acts: [],
      async show(visit) {
        const secret = visit.params['secret'] ?? '';
        const found = await open(visit);
        if (!found) return unknownUnsubscribePage(visit);
        const shop = await findShop(store.primaryOf(found.shopId).keys, found.shopId);
        return unsubscribePage(visit, {
          email: found.email,
          shopName: shop?.name ?? 'this shop',
          secret,
        });
      },
      async oneClick(visit) {
        const found = await open(visit);
        if (!found) return unknownUnsubscribePage(undefined);
        await endNotifications(sql, found.shopId, found.ownerId);
        return unsubscribedPage(undefined);
      },
    }),
  ];
}

interface Chosen {
  readonly choice: NotificationChoice;
  readonly texts: Texts;
  /** What is wrong with fields. */
  readonly problems?: Partial<Texts>;
  /** Why a test mail was not sent. */
  readonly failure?: string;
}

interface NotificationsPage extends Chosen {
  readonly previews: Previews | undefined;
  /** Whether the service can send mail. */
  readonly isSent: boolean;
}

/** Where an owner chooses what they are told by email, beside what that looks like. */
function notificationsPage(visit: ShopVisit, parts: NotificationsPage): Answer {
  const { choice, texts, isSent, problems = {}, failure, previews } = parts;
  const { shop, session } = visit;
  const [firstWrong] = Object.keys(problems);
  const field = (name: keyof Texts, label: string, hint: string) => {
    const text = problems[name];
    const problem = `${name}-problem`;
    return html`${text && html`<p class="alert" role="alert" id="${problem}">${text}</p>`}
    ${inputField(
      {
        id: name,
        label,
        hint,
        value: texts[name],
        isInvalid: text !== undefined,
        getsFocus: name === firstWrong,
        problem,
      },
      html`inputmode="decimal" maxlength="20" autocomplete="off"`,
    )}`;
  };
  const done = {
    saved: 'Saved.',
    sent: `Saved, and a test mail is on its way to ${session.email}.`,
  }[visit.query.get('done') ?? ''];
  const form = html`${token(visit)}
    <p>
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
      ${field('maxChurnRate', 'Churn rate above, in percent', 'The churn rate of the last 30 days. Empty for no limit.')}
      ${field('maxOutstanding', 'Outstanding payments above', 'Empty for no limit.')}
      ${field('minMrr', `Monthly recurring revenue below, in ${shop.currency}`, 'Empty for no limit. You get one email when a limit is exceeded, and the next one only after the figure was within it again.')}
    </fieldset>
    <p class="actions">
      <button>Save</button>
      ${isSent && html`<button class="plain" name="test" value="on">Save and send a test mail</button>`}
    </p>`;
  const content = html`
    ${notice(done)}
    ${
      !isSent &&
      html`<p class="alert">
        No email is sent at the moment, not even a test: this service has no mail server. Its
        operator sets one with <code>SMTP_URL</code>. What you choose here counts from then on.
      </p>`
    }
    <div class="settings">
      ${postForm(visit, shopPath(shop, '/notifications'), form)} ${showPreviews(visit, previews)}
    </div>
  `;
  const status = firstWrong === undefined ? undefined : 422;
  return page(visit, {
    title: 'Email',
    content,
    problem: failure,
    status,
    assets: ['notifications'],
  });
}

function checkbox(name: string, isChecked: boolean, label: string, hint: string): Html {
  const checked = isChecked ? html`checked` : undefined;
  return choiceField(
    html`type="checkbox" id="${name}" name="${name}" value="on" ${checked}`,
    html`${label} <span class="hint">${hint}</span>`,
  );
}

/** For a link in a mail; opening it changes nothing, because mail programs open links too. */
function unsubscribePage(
  visit: Visit,
  { email, shopName, secret }: { email: string; shopName: string; secret: string },
): Answer {
  const content = html`<section class="card">
    <p>Email about ${shopName} to <strong>${email}</strong> ends: digests and alerts.</p>
    <form method="post" action="/app/unsubscribe/${secret}">
      <button>Unsubscribe</button>
    </form>
  </section>`;
  return page(visit, { title: 'Unsubscribe', content });
}

function unsubscribedPage(visit: Visit | undefined): Answer {
  const content = html`<section class="card">
    <p role="status">You get no more digests and alerts about this shop.</p>
    <p>You can choose them again on the page Email of the shop, which Account leads to.</p>
  </section>`;
  return page(visit, { title: 'Unsubscribed', content });
}

function unknownUnsubscribePage(visit: Visit | undefined): Answer {
  const content = html`<section class="card">
    <p>This link does not belong to any email that is sent. You get none because of it.</p>
    <p><a href="/app">Go to your shops</a></p>
  </section>`;
  return page(visit, { title: 'Nothing to unsubscribe from', content, status: 404 });
}

/** The texts of the form's fields. */
type Texts = Readonly<Record<'maxChurnRate' | 'maxOutstanding' | 'minMrr', string>>;

interface Parsed {
  readonly choice: NotificationChoice;
  readonly texts: Texts;
  /** What is wrong with fields. */
  readonly problems: Partial<Texts>;
}

/** An empty field is no limit. */
function parseForm(form: URLSearchParams, { currency }: Pick<Shop, 'currency'>): Parsed {
  const texts: Texts = {
    maxChurnRate: form.get('maxChurnRate')?.trim() ?? '',
    maxOutstanding: form.get('maxOutstanding')?.trim() ?? '',
    minMrr: form.get('minMrr')?.trim() ?? '',
  };
  const digits = shopDigitsOf(currency);
  const parse: Readonly<Record<keyof Texts, (text: string) => number | undefined>> = {
    // In percent, with the two decimals that the figure has.
    maxChurnRate: (text) => numberOf(text, 2, 100, 100),
    maxOutstanding: (text) => numberOf(text, 0, 2 ** 31 - 1),
    minMrr: (text) => numberOf(text, digits, 10 ** 12),
  };
  const expected: Readonly<Record<keyof Texts, string>> = {
    maxChurnRate: 'The limit of the churn rate must be a percentage from 0 to 100, such as 7.5.',
    maxOutstanding: 'The limit of outstanding payments must be a whole number, such as 20.',
    minMrr: `The limit of monthly recurring revenue must be an amount in ${currency}, such as ${(1500).toFixed(digits)}.`,
  };
  const fields = Object.keys(texts) as (keyof Texts)[];
  const values = Object.fromEntries(
    fields.map((field) => [field, texts[field] === '' ? null : parse[field](texts[field])]),
  ) as Record<keyof Texts, number | null | undefined>;
  const wrong = fields.filter((field) => values[field] === undefined);
  return {
    choice: {
      digest: form.has('digest'),
      unusual: form.has('unusual'),
      maxChurnRate: values.maxChurnRate ?? null,
      maxOutstanding: values.maxOutstanding ?? null,
      minMrr: values.minMrr ?? null,
    },
    texts,
    problems: Object.fromEntries(wrong.map((field) => [field, expected[field]])),
  };
}

/** The fields' texts of a stored choice. */
function textsOf(choice: NotificationChoice, { currency }: Pick<Shop, 'currency'>): Texts {
  const { maxChurnRate, maxOutstanding, minMrr } = choice;
  return {
    // A rate has four decimals at most.
    maxChurnRate: maxChurnRate === null ? '' : String(Math.round(maxChurnRate * 10_000) / 100),
    maxOutstanding: maxOutstanding === null ? '' : String(maxOutstanding),
    minMrr: minMrr === null ? '' : minMrr.toFixed(shopDigitsOf(currency)),
  };
}

/** @returns undefined for anything but a plain decimal within the limits */
function numberOf(text: string, decimals: number, max: number, divisor = 1): number | undefined {
  const pattern =
    decimals === 0 ? /^\d{1,13}$/ : new RegExp(`^\\d{1,13}([.,]\\d{1,${decimals}})?$`);
  if (!pattern.test(text)) return undefined;
  const value = Number(text.replace(',', '.'));
  return value <= max ? value / divisor : undefined;
}
