import type { Clock } from '../clock.ts';
import { type Answer, privateJson } from '../http/answer.ts';
import { findPlatform } from '../platforms/registry.ts';
import { type JobQueue, idOf } from '../platforms/webhooks/queue.ts';
import type { Sql } from '../store/database.ts';
import { findConnection } from '../store/feeds/platforms.ts';
import { readRows, Turns } from './body.ts';

interface HintParts {
  readonly sql: Sql;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/**
 * Of a shop that is connected to the platform, messages only say what has changed: that is stored as jobs, once, which
 * read it again.
 * @returns undefined if the shop is not connected
 * @throws CommandError if the queue is not open
 */
export async function acceptHints(
  platformName: string,
  { shopId, body }: { readonly shopId: number; readonly body: Buffer },
  { sql, queue, clock }: HintParts,
): Promise<Answer | undefined> {
  const { pushed } = findPlatform(platformName) ?? {};
  if (!pushed || !(await findConnection(sql, shopId, platformName))) return undefined;
  await queue.opened();
  const sent = await readRows(body, new Turns(clock));
  if ('refusal' in sent) return sent.refusal;
  const receivedAt = new Date(clock.now()).toISOString();
  let hints = 0;
  for (const { value } of sent.rows) {
    const hint = await pushed.readHint(value);
    if (!hint) continue;
    const { event: name, ...rest } = hint;
    const { kind, id, at = '' } = rest;
    const event = idOf(platformName, String(shopId), name);
    const job = { shopId, ...rest, event, topic: kind, receivedAt };
    // Those of different times are different jobs, so that none is dated by another.
    await queue.send(pushed.queue, job, `${shopId} ${kind} ${id} ${at}`.trimEnd());
    hints += 1;
  }
  return { status: 202, headers: privateJson, body: JSON.stringify({ hints }) };
}
