import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import type { SegmentTooLarge } from '../../metrics/segments/time-limit.ts';
import { conditionNames } from '../../metrics/segments/segment.ts';
import type { Shop } from '../../store/shops.ts';
import { page } from '../ui/answers.ts';
import { alert, layout } from '../ui/layout.ts';
import type { Visit } from '../visit.ts';

/** In place of a page whose segment takes too long. */
export function segmentTooLargePage(
  visit: Visit & { readonly shop: Shop },
  { message }: SegmentTooLarge,
): Answer {
  const { request, query } = visit;
  const [path] = request.url.split('?');
  const rest = new URLSearchParams([...query].filter(([name]) => !isCondition(name)));
  const content = html`${alert(message)}
    <p><a href="${path}${rest.size > 0 ? `?${rest}` : ''}">Show all subscriptions</a></p>`;
  return page(layout(visit, { title: 'This segment is too large', content }), 503);
}

const isCondition = (name: string) => conditionNames.some((each) => each === name);
