import { html } from '../../http/html.ts';
import { parseSegment, segmentQuery } from '../../metrics/segments/segment.ts';
import { deleteSegment, insertSegment, maxSegments } from '../../store/owners/segments.ts';
import { type OwnerPage, type OwnerParts, shopPage } from '../pages.ts';
import { page, pageHeaders, redirect, returnPath } from '../ui/page.ts';
import { actions, hiddenFields, nameField, nameProblem, postForm } from '../ui/fields.ts';
import { countInWords } from './picker.ts';
import { shopPath } from '../site.ts';

const base = '/segments';
const textHeaders = { ...pageHeaders, 'content-type': 'text/plain; charset=utf-8' };

/** Saving and deleting segments of a shop; both lead back to the page that they came from. */
export function segmentPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock } = parts;
  return [
    shopPage(base, {
      right: 'figures',
      acts: [],
      async submit(visit, form) {
        const name = (form.get('name') ?? '').trim();
        const next = returnPath(form.get('next'));
        const { segment } = parseSegment(new URLSearchParams(form.get('query') ?? ''));
        if (!segment) return redirect(next);
        const query = String(segmentQuery(segment));
        const again = (problem: string) => {
          const content = postForm(
            visit,
            shopPath(visit.shop, base),
            html`${hiddenFields(Object.entries({ query, next }))}
            ${nameField(name, 'For your shop’s owners, such as “Monthly, active”.', true)}
            ${actions(html`<button>Save segment</button>`, next)}`,
          );
          return page(visit, { title: 'Save segment', content, problem });
        };
        const problem = nameProblem(name, 'segment');
        if (problem !== undefined) return again(problem);
        const saved = await insertSegment(store.write, visit.shop.id, { name, query });
        return saved === 'saved'
          ? redirect(withDone(next, 'segment-saved'))
          : again(refusals[saved]);
      },
    }),
    shopPage(`${base}/count`, {
      right: 'figures',
      async show(visit) {
        const { segment } = parseSegment(visit.query);
        const count = await countInWords(parts, visit, { segment, now: clock.now() });
        return { status: 200, headers: textHeaders, body: count ?? '' };
      },
    }),
    shopPage(`${base}/delete`, {
      right: 'figures',
      acts: [],
      async submit(visit, form) {
        await deleteSegment(store.write, visit.shop.id, form.get('name') ?? '');
        return redirect(withDone(returnPath(form.get('next')), 'segment-deleted'));
      },
    }),
  ];
}

/** The page, which then says what was done. */
function withDone(path: `/app${string}`, done: string): `/app${string}` {
  return `${path}${path.includes('?') ? '&' : '?'}done=${done}`;
}

const refusals = {
  taken:
    'The shop has another segment of this name. Choose another name, or delete that one first.',
  full: `The shop has ${maxSegments} saved segments, as many as it can have. Delete one first.`,
};
