import { type Html, html } from '../../http/html.ts';
import type { OpenCaseRow } from '../../metrics/dunning/open-cases.ts';
import { deleteContactedCase, insertContactedCase } from '../../store/records/contacted-cases.ts';
import { type HomesVisit, showId } from '../framework/homes.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { hiddenFields, postForm } from '../ui/fields.ts';
import { formatAgo } from '../ui/formats.ts';
import { redirect, returnPath } from '../ui/page.ts';

const contactPath = '/recovery/contacted';

/** An open case, with the name of the member who contacted the customer; undefined if none did, or a former member. */
export interface OpenRow extends OpenCaseRow {
  readonly contact: string | undefined;
  /** The instant as of which it is listed, epoch milliseconds. */
  readonly at: number;
}

/** The form around the rows, whose buttons send it. */
export const contactForm = (visit: ShopVisit, rows: Html): Html =>
  postForm(
    visit,
    shopPath(visit.shop, contactPath),
    html`${hiddenFields([['back', visit.request.url]])} ${rows}`,
    'contact',
  );

/** A case as the form names it: its subscription, and when it opened; short, since each row has it. */
const caseForm = /^([0-9a-z]{1,11}) ([0-9a-z]{1,9})$/;
const base = 36;

/**
 * Whether, when and by which member the customer was contacted, with a button that notes it or takes it back. The file
 * has the exact time, which would make a page too heavy.
 */
export function showContact(visit: HomesVisit, row: OpenRow, now: number): Html {
  const { subscriptionId, openedAt, contactedAt, contactedBy, contact } = row;
  const named = [subscriptionId, openedAt].map((each) => each.toString(base)).join(' ');
  const who = contactedBy === visit.session.ownerId ? 'you' : (contact ?? 'a former member');
  const button = (name: string, label: string) => {
    const about = `${label} ${showId(visit, 'customer', row.customerId)}`;
    return html`<button name="${name}" value="${named}" aria-label="${about}">${label}</button>`;
  };
  return contactedAt === null
    ? button('done', 'Mark')
    : html`${formatAgo(new Date(contactedAt), now)} by ${who} ${button('undo', 'Undo')}`;
}

export function contactPages({ store, clock }: OwnerParts): OwnerPage[] {
  return [
    shopPage(contactPath, {
      right: 'figures',
      acts: [],
      parent: '/recovery',
      async submit({ shop, session }, form) {
        const [done, undo] = ['done', 'undo'].map((name) => caseForm.exec(form.get(name) ?? ''));
        const [, subscriptionId, openedAt] = (done ?? undo ?? []).map((each) =>
          parseInt(each, base),
        );
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
