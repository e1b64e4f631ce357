import type { z } from 'zod';
import type { Answer, AnswerBody } from '../../http/answer.ts';
import type { cancellationPage } from '../../operations/shapes.ts';
import { listSubscriptionsOfSessions } from '../../store/records/cancellations.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';
import { offerLabel, outcomeLabel, reasonLabels } from '../ui/labels.ts';
import { csvFile, pagedRows } from './csv.ts';

type SessionsPage = z.infer<typeof cancellationPage>;

const heads = ['Session', 'Subscription', 'Reason', 'Offer', 'Outcome', 'Started (UTC)'];

/** @param read a page of the list from a cursor on, with the page's filters */
export async function sessionsFile(
  { store, clock }: OwnerParts,
  { shop }: ShopVisit,
  read: (cursor?: string) => Promise<SessionsPage>,
): Promise<Answer<AnswerBody>> {
  const rows = await pagedRows(read, async ({ cancellations }) => {
    const ids = cancellations.map(({ sessionId }) => sessionId);
    const subscriptions = await store.readRecent(shop.id, (from) =>
      listSubscriptionsOfSessions(from.cancellations, shop.id, ids),
    );
    return cancellations.map(({ sessionId, detectedReason, offerType, outcome, createdAt }) => [
      sessionId,
      subscriptions.get(sessionId) ?? null,
      reasonLabels[detectedReason],
      offerLabel(offerType),
      outcomeLabel(outcome),
      createdAt,
    ]);
  });
  return csvFile({ shop, noun: 'cancel-flow', now: clock.now(), heads, rows });
}
