import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { page } from '../ui/answers.ts';
import { alert, describedBy, layout, notice, shopPath, token } from '../ui/layout.ts';
import type { ShopVisit } from '../pages.ts';
import type { Visit } from '../visit.ts';
import type { NotificationChoice } from '../../store/owners/notifications.ts';
import type { Texts } from './form.ts';
import { usualDays } from './unusual.ts';

interface NotificationsPage {
  readonly choice: NotificationChoice;
  readonly texts: Texts;
  /** Whether the service can send mail. */
  readonly isSent: boolean;
  readonly problem?: { readonly field: keyof Texts; readonly text: string } | undefined;
}

/** Where an owner chooses what they are told by email. */
export function notificationsPage(visit: ShopVisit, parts: NotificationsPage): Answer {
  const { choice, texts, isSent, problem } = parts;
  const { shop, session } = visit;
  const field = (name: keyof Texts, label: string, hint: string) =>
    html`<p class="field">
      <label for="${name}">${label}</label>
      <input
        id="${name}"
        name="${name}"
        inputmode="decimal"
        maxlength="20"
        autocomplete="off"
        value="${texts[name]}"
        ${describedBy(`${name}-hint`, problem?.field === name)}
      />
      <span class="hint" id="${name}-hint">${hint}</span>
    </p>`;
  const content = html`
    ${alert(problem?.text)} ${notice(visit.query.get('done') === 'saved' ? 'Saved.' : undefined)}
    ${
      isSent
        ? undefined
        : html`<p class="alert">
            No email is sent at the moment: this service has no mail server. Its operator sets one
            with <code>SMTP_URL</code>. What you choose here counts from then on.
          </p>`
    }
    <form method="post" action="${shopPath(shop, '/notifications')}" class="card">
      ${token(visit)}
      <p>
        Sent to <strong>${session.email}</strong>. Other owners of ${shop.name} choose for
        themselves. A choice counts from the next 06:00 UTC on; that of the digest from the next
        Monday on.
      </p>
      <fieldset>
        <legend>Every week</legend>
        ${checkbox('digest', choice.digest, 'Weekly digest', 'On Mondays after 06:00 UTC: the figures of the week before, from Monday to Sunday, beside those of the week before it.')}
      </fieldset>
      <fieldset>
        <legend>When something happens</legend>
        ${checkbox('unusual', choice.unusual, 'Unusual days', `After 06:00 UTC, if the day before had more cancellations or failed payments, or fewer new subscribers, than each of the ${usualDays} days before it, and differs from their mean by at least 5 and by more than three standard deviations (the square root of the mean).`)}
        ${field('maxChurnRate', 'Churn rate above, in percent', 'The churn rate of the last 30 days. Empty for no limit.')}
        ${field('maxOutstanding', 'Outstanding payments above', 'Empty for no limit.')}
        ${field('minMrr', `Monthly recurring revenue below, in ${shop.currency}`, 'Empty for no limit. You get one email when a limit is exceeded, and the next one only after the figure was within it again.')}
      </fieldset>
      <button>Save</button>
    </form>
  `;
  return page(layout(visit, { title: 'Email', content }), problem ? 422 : 200);
}

function checkbox(name: string, isChecked: boolean, label: string, hint: string): Html {
  return html`<label class="choice">
    <input
      type="checkbox"
      id="${name}"
      name="${name}"
      value="on"
      ${isChecked ? html`checked` : undefined}
    />
    <span>${label} <span class="hint">${hint}</span></span>
  </label>`;
}

/** For a link in a mail; opening it changes nothing, because mail programs open links too. */
export function unsubscribePage(
  visit: Visit,
  { email, shopName, secret }: { email: string; shopName: string; secret: string },
): Answer {
  const content = html`<section class="card">
    <p>Email about ${shopName} to <strong>${email}</strong> ends: digests and alerts.</p>
    <form method="post" action="/app/unsubscribe/${secret}">
      <button>Unsubscribe</button>
    </form>
  </section>`;
  return page(layout(visit, { title: 'Unsubscribe', content }));
}

export function unsubscribedPage(visit: Visit | undefined): Answer {
  const content = html`<section class="card">
    <p role="status">You get no more digests and alerts about this shop.</p>
    <p>You can choose them again on the page Email of the shop, which Account leads to.</p>
  </section>`;
  return page(layout(visit, { title: 'Unsubscribed', content }));
}

export function unknownUnsubscribePage(visit: Visit | undefined): Answer {
  const content = html`<section class="card">
    <p>This link does not belong to any email that is sent. You get none because of it.</p>
    <p><a href="/app">Go to your shops</a></p>
  </section>`;
  return page(layout(visit, { title: 'Nothing to unsubscribe from', content }), 404);
}
