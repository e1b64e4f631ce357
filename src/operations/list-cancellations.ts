import { z } from 'zod';
import { listCancellations as listRows } from '../store/records/cancellations.ts';
import { sessionOutcomes } from '../vocabulary.ts';
import { decodeCursor, pageOf } from './cursor.ts';
import { defineOperation } from './define.ts';
import { examples } from './examples.ts';
import { cursor, limit, oneOf } from './json-schema.ts';
import { cancellationPage } from './answer-schemas.ts';
import { coalesce } from './coalesce.ts';

export const listCancellations = defineOperation({
  tool: 'list_cancellations',
  path: '/cancellations',
  scope: 'read:metrics',
  title: 'Cancel-flow sessions',
  description:
    'What the cancel flow found and achieved: its sessions, newest first, a page at a time.',
  toolDescription:
    'List cancel-flow sessions, newest first: why customers wanted to leave (detectedReason), what was offered (offerType) and how it ended (outcome; null is in progress). Start with a small limit (5 to 20; at most 100, 50 if left out) and filter by outcome where you can. For the next page pass nextCursor as cursor with the same outcome. The save rate of the last 30 days: get_metrics_summary.',
  input: z.strictObject({
    limit,
    cursor: cursor.optional(),
    outcome: oneOf('outcome', sessionOutcomes)
      .optional()
      .describe('Only sessions that ended this way.'),
  }),
  output: cancellationPage,
  example: examples.list_cancellations,
  fails: ['invalid'],
  async run({ caller, store }, input) {
    const listing = `${caller.shopId} cancellations ${input.outcome ?? ''}`;
    const after = input.cursor === undefined ? undefined : decodeCursor(listing, input.cursor);
    return coalesce(store.cancellations, `${listing} ${input.limit} ${input.cursor}`, async () => {
      const found = await listRows(store.cancellations, caller.shopId, {
        outcome: input.outcome,
        after,
        limit: input.limit + 1,
      });
      return pageOf('cancellations', listing, found, input.limit, 'sessionId');
    });
  },
});
