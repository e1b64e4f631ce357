import type { TestContext } from 'node:test';
import { Retention, RetentionError } from '../../clients/typescript/src/index.ts';
import { type Attempt, type Case, type Condition, type Outcome, type Run } from './cases.ts';
import { entriesAt } from './judge.ts';

/** Epoch milliseconds at which cases begin. */
const epoch = 1_000_000;

/** Timers and clock that go on to the next timer as soon as nothing else is to be done. */
class VirtualTime {
  now = epoch;
  #timers: { at: number; run: () => void }[] = [];

  constructor(t: TestContext) {
    t.mock.method(Date, 'now', () => this.now);
    t.mock.method(performance, 'now', () => this.now);
    t.mock.method(globalThis, 'setTimeout', (run: () => void, after = 0) =>
      this.at(this.now + after, run),
    );
    t.mock.method(globalThis, 'clearTimeout', (timer: unknown) => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    });
  }

  at(at: number, run: () => void): object {
    const timer = { at, run };
    this.#timers.push(timer);
    return timer;
  }

  async runAll(): Promise<void> {
    for (;;) {
      await new Promise(setImmediate);
      const next = this.#timers.reduce<{ at: number; run: () => void } | undefined>(
        (first, each) => (first && first.at <= each.at ? first : each),
        undefined,
      );
      if (!next) return;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.now = Math.max(this.now, next.at);
      next.run();
    }
  }
}

/** Runs a case with the TypeScript client, in virtual time. */
export async function runCase(t: TestContext, world: Case): Promise<Run> {
  const time = new VirtualTime(t);
  const attempts: Attempt[] = [];
  const outcomes: Outcome[] = [];
  const elapsed = () => time.now - epoch;
  const retention = new Retention({
    baseUrl: 'http://service.test',
    key: 'rtn_test',
    timeoutMs: world.timeoutSeconds * 1000,
    maxRetries: world.maxRetries,
    deadlineMs: world.deadlineSeconds === null ? Infinity : world.deadlineSeconds * 1000,
    cache: world,
    fetch: (url, init) => answer(time, world, attempts, String(url), init?.signal),
  });
  for (const [step, { at, customerId, planIds, forget }] of world.steps.entries()) {
    time.at(epoch + at, async () => {
      const outcome = { step, calledAt: elapsed(), answeredAt: Infinity, result: null };
      const index = outcomes.push(outcome) - 1;
      const result = forget
        ? (retention.forget(customerId), null)
        : await retention.entitled(customerId, { planIds: planIds ?? undefined }).catch(nameOf);
      outcomes[index] = { ...outcome, answeredAt: elapsed(), result };
    });
  }
  await time.runAll();
  t.mock.restoreAll();
  return { attempts, outcomes };
}

function nameOf(error: unknown): string {
  if (error instanceof RetentionError) return error.name;
  throw error;
}

/** What the service of a case answers to a request that is sent now. */
function answer(
  time: VirtualTime,
  world: Case,
  attempts: Attempt[],
  url: string,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  const customerId = Number(new URL(url).searchParams.get('customerId'));
  const sentAt = time.now - epoch;
  const fate = foresee(world, sentAt);
  const attempt: Attempt = { customerId, sentAt, ...fate };
  attempts.push(attempt);
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => {
      const cut = { error: 'TimeoutError', readAt: null, retryAfterSeconds: null };
      Object.assign(attempt, { ...cut, endedAt: time.now - epoch });
      reject(new Error('aborted'));
    });
    if (fate.error === 'TimeoutError') return;
    time.at(epoch + fate.endedAt, () => {
      if (fate.response === null) return reject(new TypeError('fetch failed'));
      const [status, body] = fate.response;
      const content = body ?? JSON.stringify({ subscriptions: wireEntries(world, attempt) });
      const headers: [string, string][] =
        status === 429 ? [['retry-after', String(fate.retryAfterSeconds)]] : [];
      resolve(new Response(content, { status, headers }));
    });
  });
}

/** What will become of a request, by the conditions when it is sent and until it is answered. */
function foresee(world: Case, sentAt: number) {
  const { conditions, timeoutSeconds } = world;
  const current = conditions.findLast(({ from }) => from <= sentAt) as Condition;
  const doneAt = sentAt + (current.kind === 'down' ? 1 : current.latency);
  const killed = conditions.find(({ from, kind }) => kind === 'down' && from > sentAt);
  const fate = { endedAt: doneAt, readAt: null, retryAfterSeconds: null, response: null };
  const lastsTooLong = current.kind === 'silent' || current.latency >= timeoutSeconds * 1000;
  const endsAt = lastsTooLong ? sentAt + timeoutSeconds * 1000 : doneAt;
  if (killed && killed.from <= endsAt) {
    return { ...fate, endedAt: killed.from, error: 'UnavailableError' };
  }
  if (lastsTooLong && current.kind !== 'down')
    return { ...fate, endedAt: endsAt, error: 'TimeoutError' };
  switch (current.kind) {
    case 'up':
      return {
        ...fate,
        readAt: sentAt + current.latency / 2,
        error: null,
        response: [200, null] as const,
      };
    case 'busy': {
      const { retryAfterSeconds } = current;
      return {
        ...fate,
        retryAfterSeconds,
        error: 'RateLimitError',
        response: [429, '{}'] as const,
      };
    }
    default: {
      const response = troubles[current.kind] ?? null;
      return { ...fate, error: 'UnavailableError', response };
    }
  }
}

const troubles: Partial<Record<Condition['kind'], readonly [number, string]>> = {
  truncated: [200, '{"subscriptions":[{"subscriptionId":1,"isEnt'],
  misshapen: [200, '{"subscriptions":[{}]}'],
  error: [500, '{"success":false,"message":"Internal server error."}'],
  page: [502, '<h1>Bad gateway</h1>'],
};

function wireEntries(world: Case, { customerId, readAt }: Pick<Attempt, 'customerId' | 'readAt'>) {
  return entriesAt(world, customerId, readAt ?? 0).map(({ paidThrough, ...entry }) => ({
    ...entry,
    subscriptionId: 1,
    planName: 'Plan',
    planType: 'subscription',
    paidThroughAt: paidThrough === null ? null : new Date(epoch + paidThrough).toISOString(),
  }));
}
