import assert from 'node:assert/strict';
import type { Attempt, Case, Outcome, Run } from './cases.ts';

/** Clients keep times with fractions, so that limits are judged to the millisecond. */
const slack = 1;

/** Checks what a client did against the rules of the documentation, by what was true and when. */
export function judge(world: Case, run: Run): void {
  for (const outcome of run.outcomes) {
    const step = world.steps[outcome.step];
    assert.ok(step);
    if (step.forget) continue;
    const fault = new Judge(world, run, outcome).findFault();
    if (fault !== undefined) {
      assert.fail(
        `step ${outcome.step}: ${fault}\n${JSON.stringify({ ...outcome, ...step, world, run })}`,
      );
    }
  }
}

/** One answer, or error, for a call. */
class Judge {
  readonly #world: Case;
  readonly #call: Outcome;
  readonly #planIds: readonly number[] | null;
  /** Requests about the customer. */
  readonly #attempts: readonly Attempt[];
  /** Of those, what may have been answered from: sent since the customer was last forgotten. */
  readonly #answers: readonly Attempt[];
  readonly #forgotten: readonly number[];
  readonly #others: readonly Outcome[];

  constructor(world: Case, run: Run, call: Outcome) {
    const { customerId, planIds } = world.steps[call.step] ?? assert.fail();
    const ofCustomer = run.outcomes.filter(
      ({ step }) => world.steps[step]?.customerId === customerId,
    );
    const position = ofCustomer.indexOf(call);
    const before = ofCustomer.slice(0, position).findLast(isForgetting);
    this.#world = world;
    this.#call = call;
    this.#planIds = planIds;
    this.#attempts = run.attempts.filter((each) => each.customerId === customerId);
    this.#answers = this.#attempts.filter(
      ({ error, sentAt }) => error === null && sentAt >= (before?.calledAt ?? 0),
    );
    this.#forgotten = ofCustomer.filter(isForgetting).map(({ calledAt }) => calledAt);
    this.#others = ofCustomer.filter((each) => each !== call && !isForgetting(each));
  }

  findFault(): string | undefined {
    const { calledAt, answeredAt, result } = this.#call;
    if (answeredAt > this.#endsAt() + slack) return 'went on after its deadline';
    if (this.#hasTwoRequestsAtOnce()) return 'two requests about one customer at a time';
    const known = this.#lastAnswerAt(calledAt);
    if (known && this.#isFresh(known, -slack)) {
      if (answeredAt > calledAt) return 'asked although there was a fresh answer';
      return result === this.#verdict(known) ? undefined : 'not what the fresh answer says';
    }
    return typeof result === 'string' ? this.#faultOfError(result) : this.#faultOfAnswer(known);
  }

  #faultOfAnswer(known: Attempt | undefined): string | undefined {
    const { calledAt, answeredAt, result } = this.#call;
    if (known && answeredAt === calledAt && this.#isFresh(known, slack)) return undefined;
    const isAnswered = this.#answers.some(
      (each) =>
        each.endedAt > calledAt &&
        each.endedAt <= answeredAt + slack &&
        this.#isYoung(each, slack) &&
        this.#verdict(each) === result,
    );
    if (isAnswered) return undefined;
    const hasFailed = this.#failures().length > 0;
    if (!hasFailed && !this.#hasRunOut())
      return 'an answer that the service did not give, or gave too long ago';
    const held = [-slack, slack].map((by) => this.#held(answeredAt + by));
    return held.includes(result as boolean) ? undefined : 'an answer that does not hold any more';
  }

  #faultOfError(error: string): string | undefined {
    const { calledAt, answeredAt } = this.#call;
    const last = this.#failures().findLast(
      (each) => each.error === error && Math.abs(each.endedAt - answeredAt) <= slack,
    );
    const isTooLate = error === 'TimeoutError' && this.#hasRunOut();
    if (!last && !isTooLate) return 'an error that nothing that happened means';
    // What was forgotten meanwhile holds no longer.
    if (this.#forgotten.some((at) => at >= calledAt && at <= answeredAt)) return undefined;
    const held = [-slack, slack].map((by) => this.#held(answeredAt + by));
    if (!held.includes(undefined)) return 'an error although the last answer holds';
    const isShared = this.#others.some(
      (other) => other.calledAt <= answeredAt && other.answeredAt >= calledAt,
    );
    const heldBefore = this.#held(calledAt) !== undefined;
    if (isShared || heldBefore || !last || (last.retryAfterSeconds ?? 0) > 60) return undefined;
    const tries = this.#attempts.filter(({ sentAt }) => sentAt >= calledAt && sentAt <= answeredAt);
    // The longest pause that it may have chosen.
    const { retryAfterSeconds } = last;
    const pause = retryAfterSeconds === null ? 2 ** (tries.length - 1) : 4 * retryAfterSeconds + 1;
    if (answeredAt + pause * 250 + slack >= this.#endsAt()) return undefined;
    return tries.length === this.#world.maxRetries + 1 ? undefined : `${tries.length} attempts`;
  }

  /** When the call must have ended. */
  #endsAt(): number {
    const { deadlineSeconds } = this.#world;
    return deadlineSeconds === null ? Infinity : this.#call.calledAt + deadlineSeconds * 1000;
  }

  #hasRunOut(): boolean {
    return this.#call.answeredAt >= this.#endsAt() - slack;
  }

  #failures(): Attempt[] {
    const { calledAt, answeredAt } = this.#call;
    return this.#attempts.filter(
      ({ error, endedAt }) =>
        error !== null && endedAt >= calledAt - slack && endedAt <= answeredAt + slack,
    );
  }

  #lastAnswerAt(time: number): Attempt | undefined {
    return this.#answers.findLast(({ endedAt }) => endedAt <= time);
  }

  /** The entries that entitled by the plans in question when an answer was read. */
  #grants({ readAt, customerId }: Attempt) {
    assert.ok(readAt !== null);
    return entriesAt(this.#world, customerId, readAt).filter(
      ({ planId, isEntitled }) => isEntitled && (this.#planIds?.includes(planId) ?? true),
    );
  }

  #verdict(answer: Attempt): boolean {
    return this.#grants(answer).length > 0;
  }

  #isYoung(answer: Attempt, by: number): boolean {
    const { maxAgeSeconds, refusalMaxAgeSeconds } = this.#world;
    const limit = this.#verdict(answer)
      ? maxAgeSeconds
      : Math.min(maxAgeSeconds, refusalMaxAgeSeconds);
    return this.#call.calledAt - answer.sentAt < limit * 1000 + by;
  }

  #isFresh(answer: Attempt, by: number): boolean {
    const hasEnded = this.#grants(answer).some(
      ({ status, paidThrough }) =>
        status !== 'active' &&
        paidThrough !== null &&
        paidThrough > answer.sentAt &&
        paidThrough <= this.#call.calledAt - by,
    );
    return this.#isYoung(answer, by) && !hasEnded;
  }

  /** What the last answer says at a time while the service is away. */
  #held(time: number): boolean | undefined {
    const last = this.#lastAnswerAt(time);
    if (!last) return undefined;
    const grants = this.#grants(last);
    if (grants.some(({ paidThrough }) => paidThrough !== null && time < paidThrough)) return true;
    return time - last.sentAt < this.#world.graceSeconds * 1000 ? grants.length > 0 : undefined;
  }

  #hasTwoRequestsAtOnce(): boolean {
    return this.#attempts.some((each, index) => {
      const next = this.#attempts[index + 1];
      if (!next || next.sentAt >= each.endedAt) return false;
      return !this.#forgotten.some((at) => at >= each.sentAt && at <= next.sentAt);
    });
  }
}

const isForgetting = ({ result }: Outcome) => result === null;

/** What is true of a customer at a time. */
export function entriesAt({ states }: Case, customerId: number, time: number) {
  const current = states[customerId - 1]?.findLast(({ from }) => from <= time);
  return (current?.entries ?? []).map((entry) => ({
    ...entry,
    isEntitled:
      entry.status === 'active' || (entry.paidThrough !== null && time < entry.paidThrough),
  }));
}
