import { html } from '../../http/html.ts';
import { type OwnerPage, type OwnerParts, ownerPage } from '../pages.ts';
import { page, redirect, returnPath } from '../ui/page.ts';
import { createStepUp } from './proof.ts';

/** Where pages that need a recent proof of who the visitor is send them. */
export function confirmPages(parts: OwnerParts): OwnerPage[] {
  const stepUp = createStepUp(parts);
  return [
    ownerPage('/app/confirm', {
      isBeforeFactor: true,
      acts: ['second_factor_failed', 'recovery_code_used', 'sign_in_failed', 'sign_in_locked'],
      async show(visit) {
        const next = returnPath(visit.query.get('next'));
        return stepUp.isRecent(visit.session) ? redirect(next) : stepUp.show(visit, next);
      },
      async submit(visit, form) {
        const next = returnPath(form.get('next'));
        const result = await stepUp.check(visit, form);
        if (result?.kind !== 'right') return stepUp.show(visit, next, result);
        const [path = ''] = next.split('?');
        if (!path.endsWith('.csv')) return redirect(next);
        // A file opens no page: this one would stay, and ask again.
        const content = html`<p><a class="button" href="${next}">Download the file</a></p>
          <p class="quiet"><a href="/app">Go to your shops</a></p>`;
        return page(visit, { title: 'Confirmed', content });
      },
    }),
  ];
}
