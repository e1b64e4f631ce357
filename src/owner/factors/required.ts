import { html } from '../../http/html.ts';
import { audited } from '../../store/owners/audit.ts';
import { listMembersWithoutFactor, upsertFactorPolicy } from '../../store/owners/factors.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { notice } from '../ui/elements.ts';
import { choiceField, postForm } from '../ui/fields.ts';
import { page, redirect } from '../ui/page.ts';

export const requiredPath = '/second-factor';

/** Where the owners of a shop require a second factor of all its members. */
export function requiredPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, requiresSecondFactor } = parts;
  const show = async (visit: ShopVisit, problem?: string) => {
    const without = await listMembersWithoutFactor(store.write, visit.shop.id);
    const isRequired = requiresSecondFactor || visit.shop.requiresSecondFactor;
    const checked = isRequired && html`checked`;
    const content = html`${notice(visit.query.has('saved') ? 'Saved.' : undefined)}
    ${postForm(
      visit,
      undefined,
      html`<p>
          Members without one set one up when they next sign in or open a page of the shop, and see
          nothing of it until then.
        </p>
        ${choiceField(
          html`type="checkbox" name="required" value="yes" ${checked}
          ${requiresSecondFactor && html`disabled`}`,
          'Every member needs a second factor',
        )}
        ${
          requiresSecondFactor
            ? html`<p class="hint">The operator of this service demands it of everyone.</p>`
            : html`<button>Save</button>`
        }`,
    )}
    ${
      without.length === 0
        ? html`<p>All members have a second factor.</p>`
        : html`<p>Without one so far:</p>
            <ul>
              ${without.map((email) => html`<li>${email}</li>`)}
            </ul>`
    }`;
    return page(visit, { title: 'Second factor of the team', content, problem });
  };
  return [
    shopPage(requiredPath, {
      right: 'ownership',
      acts: ['second_factor_required'],
      stepUp: 'form',
      parent: '/team',
      label: 'Second factor of the team',
      hint: 'Require passkeys or codes of all members',
      show: (visit) => show(visit),
      async submit(visit, form) {
        const requires = form.get('required') === 'yes';
        if (requires && !visit.session.hasFactor) {
          return show(visit, 'Set up your own first: on the page Account, Second factor.');
        }
        const target = requires ? 'required' : 'optional';
        const happened = { at: new Date(clock.now()), by: actorOf(visit), target };
        const what = 'second_factor_required';
        await audited(store.write, visit.shop.id, { ...happened, what }, (tx) =>
          upsertFactorPolicy(tx, visit.shop.id, requires),
        );
        return redirect(shopPath(visit.shop, `${requiredPath}?saved`));
      },
    }),
  ];
}
