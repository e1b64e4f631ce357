import { type Html, html } from '../../http/html.ts';
import type { OpenCaseRow } from '../../metrics/dunning/open-cases.ts';
import { deleteContactedCase, insertContactedCase } from '../../store/records/contacted-cases.ts';
import { type HomesVisit, showId } from '../framework/homes.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { hiddenFields, token } from '../ui/fields.ts';
import { showAgo } from '../ui/formats.ts';
import { redirect, returnPath } from '../ui/page.ts';

const contactPath = '/recovery/contacted';

/** An open case, with the name of the member who contacted the customer; undefined if none did, or a former member. */
export interface OpenRow extends OpenCaseRow {
  readonly contact: string | undefined;
}

/** The form that the buttons of rows belong to. */
export const contactForm = (visit: ShopVisit): Html =>
  html`<form id="contact" method="post" action="${shopPath(visit.shop, contactPath)}">
    ${token(visit)} ${hiddenFields([['back', visit.request.url]])}
  </form>`;

/** A case as the form names it: its subscription, and when it opened. */
const caseForm = /^(\d{1,16}) (\d{1,13})$/;

/** Whether, when and by which member the customer was contacted, with a button that notes it or takes it back. */
export function showContact(visit: HomesVisit, row: OpenRow, now: number): Html {
  const { subscriptionId, openedAt, contactedAt, contactedBy, contact } = row;
  const isNoted = contactedAt !== null;
  const name = showId(visit, 'customer', row.customerId);
  const who = contactedBy === visit.session.ownerId ? 'you' : (contact ?? 'a former member');
  return html`${isNoted && html`${showAgo(new Date(contactedAt), now)} by ${who} `}<button
      class="plain small"
      form="contact"
      name="${isNoted ? 'undo' : 'done'}"
      value="${subscriptionId} ${openedAt}"
      aria-label="${isNoted ? `Undo: ${name} was contacted` : `Mark ${name} as contacted`}"
    >
      ${isNoted ? 'Undo' : 'Mark'}
    </button>`;
}

export function contactPages({ store, clock }: OwnerParts): OwnerPage[] {
  return [
    shopPage(contactPath, {
      right: 'figures',
      acts: [],
      parent: '/recovery',
      async submit({ shop, session }, form) {
        const [done, undo] = ['done', 'undo'].map((name) => caseForm.exec(form.get(name) ?? ''));
        const [, subscriptionId, openedAt] = (done ?? undo ?? []).map(Number);
        const isCase = subscriptionId !== undefined && openedAt !== undefined;
        if (isCase && Number.isSafeInteger(subscriptionId)) {
          const change = { subscriptionId, openedAt };
          if (done) {
            const { ownerId } = session;
            await insertContactedCase(store.write, shop.id, change, { ownerId, at: clock.now() });
          } else await deleteContactedCase(store.write, shop.id, change);
        }
        return redirect(returnPath(form.get('back')));
      },
    }),
  ];
}
