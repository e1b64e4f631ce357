import { bill } from './billing.ts';
import { DAY, HOUR, MINUTE } from './calendar.ts';
import { advance, begin, change, type Life, restart, touch } from './life.ts';
import type { Plan } from './plans.ts';
import { around, chance, integer, type Random } from './random.ts';
import { canPause, canSkip, converse, staysAs } from './sessions.ts';

// The hazard of leaving in the first, second, … period; the last goes for all that follow.
const LEAVING = [0.3, 0.22, 0.15, 0.11, 0.09, 0.08];

/** Lives a subscription from its creation to its end, or to `endAt`. */
export function live(random: Random, plan: Plan, createdAt: number, endAt: number): Life {
  const life = begin(random, plan, createdAt, endAt);
  let goesOn = true;
  while (goesOn && life.dueAt < endAt) goesOn = startPeriod(life) && spendPeriod(life);
  if (life.paidPeriods === plan.term) life.goesOn = false;
  // Somebody is always just talking it over.
  const talking = life.sessions.at(-1)?.outcome === null;
  if (life.status === 'active' && !talking && chance(random, 0.006)) {
    const at = endAt - integer(random, MINUTE, 25 * MINUTE);
    if (at > life.updatedAt) life.sessions.push(converse(random, plan, null, at, endAt));
  }
  return life;
}

/** Bills the period that is due, or expires. False: nothing follows. */
function startPeriod(life: Life): boolean {
  if (life.paidPeriods === life.plan.term) {
    change(life, 'expired', life.dueAt);
    return false;
  }
  return bill(life);
}

/** What happens between one bill and the next. False: nothing follows. */
function spendPeriod(life: Life): boolean {
  const { random, plan } = life;
  const leaving = plan.churn * (LEAVING[Math.min(life.cycle - 2, LEAVING.length - 1)] ?? 0);
  const at = someMoment(life);
  const drawn = random();
  if (at >= life.endAt) return true;
  if (drawn < leaving) return !leave(life, at);
  if (drawn < leaving * 1.7) return talkAndStay(life, at);
  const rest = drawn - leaving * 1.7;
  if (rest < 0.03) return canPause(plan) ? pause(life, at) : true;
  if (rest < 0.06 && canSkip(plan)) skip(life, at);
  return true;
}

/** People act on the reminder shortly before a bill more than right after one. */
function someMoment(life: Life): number {
  const from = Math.max(life.updatedAt, life.charges.at(-1)?.at ?? 0) + HOUR;
  const until = life.dueAt - 2 * HOUR;
  const early = life.random();
  return until - Math.floor((until - from) * early * early);
}

/** Cancels, most often after a session; false if that would only be done after the world's end. */
function leave(life: Life, at: number): boolean {
  const { random, plan, endAt } = life;
  let leftAt = at;
  if (chance(random, 0.85)) {
    const session = converse(random, plan, 'cancelled', at, endAt);
    life.sessions.push(session);
    if (session.outcome === null) return false;
    leftAt = session.closedAt;
  }
  change(life, 'cancelled', leftAt);
  giveBack(life, leftAt);
  return true;
}

/** Who leaves soon after paying may get the money back. */
function giveBack(life: Life, leftAt: number): void {
  const last = life.charges.at(-1);
  if (last?.status !== 'succeeded' || last.refund || leftAt - last.at > 8 * DAY) return;
  const at = leftAt + integer(life.random, 5 * MINUTE, 30 * HOUR);
  if (chance(life.random, 0.4) && at < life.endAt) last.refund = { at, share: 1 };
}

function talkAndStay(life: Life, at: number): boolean {
  const { random, plan, endAt } = life;
  const session = converse(random, plan, staysAs(random), at, endAt);
  life.sessions.push(session);
  if (session.outcome !== 'saved') return true;
  touch(life, session.closedAt);
  const doneAt = session.closedAt + 1000;
  if (session.offer === 'pause' && doneAt < endAt) return pause(life, doneAt);
  if (session.offer === 'skip_next') skip(life, session.closedAt);
  return true;
}

function skip(life: Life, at: number): void {
  touch(life, at);
  advance(life);
}

/** Rests for some weeks or months, then resumes or leaves. False: nothing follows. */
function pause(life: Life, at: number): boolean {
  const { random, endAt } = life;
  change(life, 'paused', at);
  const longest = chance(random, 0.15) ? 240 : 90;
  const resumesAt = at + around(random, 14, longest) * DAY + integer(random, 0, HOUR);
  const leavesAt = at + integer(random, DAY, resumesAt - at - DAY);
  if (chance(random, 0.2) && leavesAt < endAt && leave(life, leavesAt)) return false;
  if (resumesAt >= endAt) {
    if (resumesAt > life.dueAt) life.dueAt = resumesAt;
    return false;
  }
  change(life, 'active', resumesAt);
  if (resumesAt > life.dueAt) restart(life, resumesAt);
  return true;
}
