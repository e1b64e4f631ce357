import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { updateCustomerLink } from '../../store/shops.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { notice } from '../ui/elements.ts';
import { inputField, postForm } from '../ui/fields.ts';
import { page, redirect } from '../ui/page.ts';

export const customerLinkPath = '/sources/customer-link';

const maxLength = 500;

/** @returns what is wrong with the address of customers' pages, for the owner */
function problemIn(text: string): string | undefined {
  if (text.length > maxLength) return `Use at most ${maxLength} characters.`;
  const [one, other] = ['1', '2'].map((id) => URL.parse(text.replaceAll('{id}', id)));
  if (!one || !other) return 'This is no address. Write it in full, with https:// before it.';
  if (one.protocol !== 'https:') return 'The address must begin with https://.';
  if (one.username !== '' || one.password !== '') {
    return 'Leave out the user name and the password: every owner of the shop sees the address.';
  }
  if (!text.includes('{id}')) return 'Write {id} where the customer’s id stands in the address.';
  return one.host === other.host ? undefined : '{id} must come after the host, in the path.';
}

/** Where the owner says where their own system shows a customer. */
export function customerLinkPages({ store }: OwnerParts): OwnerPage[] {
  return [
    shopPage(customerLinkPath, {
      right: 'integration',
      acts: [],
      label: 'Links to customers',
      hint: 'Open a customer in your own system',
      parent: '/sources',
      show: async (visit) => show(visit, visit.shop.customerLink ?? ''),
      async submit(visit, form) {
        const text = (form.get('address') ?? '').trim();
        const problem = text === '' ? undefined : problemIn(text);
        if (problem !== undefined) return show(visit, text, problem);
        await updateCustomerLink(store.write, visit.shop.id, text === '' ? null : text);
        return redirect(shopPath(visit.shop, `${customerLinkPath}?saved`));
      },
    }),
  ];
}

function show(visit: ShopVisit, value: string, problem?: string): Answer {
  const content = html`${notice(problem === undefined && visit.query.has('saved') ? 'Saved.' : undefined)}
  ${postForm(
    visit,
    undefined,
    html`<p>
        If your own system has a page for each customer, lists and the pages of customers lead
        there, instead of to the platform.
      </p>
      ${inputField(
        {
          id: 'address',
          label: 'Address of a customer’s page',
          hint: 'With {id} where the customer’s id at the source stands, such as https://admin.example/customers/{id}. Leave it empty to go to the platform.',
          value,
          isInvalid: problem !== undefined,
        },
        html`inputmode="url" autocomplete="off" autocapitalize="none" spellcheck="false"`,
      )}
      <button>Save</button>`,
  )}`;
  return page(visit, { title: 'Links to customers', content, problem });
}
