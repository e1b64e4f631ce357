import { createTimeReader } from '../times.ts';
import { type Answers, chosenColumn } from './ask/answers.ts';
import { bestOf, sampleOf } from './choose.ts';
import { periodOfName, periodUnits } from './names.ts';
import type { StatusRole } from './status-role.ts';
import type { Column } from './table.ts';
import { guessTimes } from './times.ts';

/** A column of times, and how it writes them. */
export interface TimeRole {
  readonly column: Column;
  readonly time: string;
  /** Why the format may be wrong. */
  readonly doubt?: string;
  /** Whether the column itself is a guess. */
  readonly isUnsure: boolean;
}

export interface TimeRoles {
  readonly start: TimeRole | undefined;
  readonly ended: TimeRole | undefined;
  readonly next: TimeRole | undefined;
  readonly paidThrough: TimeRole | undefined;
  readonly updated: TimeRole | undefined;
  /** All columns of times. */
  readonly times: readonly TimeRole[];
}

/** Fewer readable values, and the column is no time. */
const readableShare = 0.9;
const named = /date|datum|fecha|\bdata\b|time|\b(?:at|on|since|utc|desde|seit|depuis|le|sinds)\b/;

export function findTimes(
  columns: readonly Column[],
  status: StatusRole | undefined,
  now: number,
  answers: Answers,
): TimeRoles {
  const times = decideOrders(columns.flatMap(timeOf), now, answers.get('order'));
  const pick = (score: (role: TimeRole) => number, from = times) => bestOf(from, score);

  const ended = pick(({ column, ...role }) => {
    const isOther =
      column.is('next') || /\b(?:period|trial|billing|month|paid|card)\b/.test(column.words);
    if (!column.is('ended') || isOther) return 0;
    const fits = endsFit({ column, ...role }, status, now);
    return fits ? (column.is('strongEnd') ? 80 : 60) : 0;
  })?.found;
  const rest = times.filter((role) => role !== ended && !role.column.is('notStart'));
  const chosen = chosenColumn(
    answers,
    'start',
    times.map(({ column }) => column),
  );
  const guessed = pick((role) => {
    const { column } = role;
    if (column.is('next') || (column.is('ended') && !column.is('start'))) return 0;
    if (!column.is('start')) return shareOf(role) >= 0.9 ? 10 : 0;
    return 60 + (column.is('subscription') ? 10 : 0) - (shareOf(role) < 0.9 ? 40 : 0);
  }, rest);
  const start =
    chosen === undefined ? guessed : pick(({ column }) => (column === chosen ? 100 : 0), times);
  const nextOf = (role: TimeRole) => (role.column.is('next') && role !== start?.found ? 60 : 0);
  return {
    start: start && { ...start.found, isUnsure: start.score < 60 },
    ended,
    next: pick(nextOf)?.found,
    paidThrough: pick(({ column }) => (paidThrough.test(column.words) ? 60 : 0))?.found,
    updated: pick((role) => (role.column.is('updated') ? 60 : 0))?.found,
    times,
  };
}

const paidThrough =
  /paid (?:through|until|thru)|current period end|bezahlt bis|pagado hasta|paye jusqu/;

function shareOf({ column }: TimeRole): number {
  return column.filled / column.texts.length;
}

export function isDayFirst(time: string): boolean {
  return time.indexOf('D') < time.indexOf('M');
}

function isOrdered(time: string): boolean {
  return /D.*M|M.*D/.test(time) && !time.startsWith('Y');
}

type Undecided = TimeRole & { readonly other: string | undefined };

function timeOf(column: Column): Undecided[] {
  if (column.filled === 0 || column.is('personal')) return [];
  const mayBeNumber = named.test(column.words) || column.is('start') || column.is('ended');
  const isNumberOfUnits = periodOfName(column.words) !== undefined;
  const guess = guessTimes(sampleOf(column), mayBeNumber && !isNumberOfUnits);
  if (!guess || guess.share < readableShare) return [];
  return [{ column, time: guess.time, other: guess.other, isUnsure: false }];
}

/** Where days and months could be swapped, the other columns of the file decide, or what lies in the past. */
function decideOrders(
  roles: readonly Undecided[],
  now: number,
  answer: string | undefined,
): TimeRole[] {
  const sureOnes = roles.filter((role) => role.other === undefined);
  return roles.map(({ other, ...role }): TimeRole => {
    if (other === undefined) return role;
    if (answer === 'day' || answer === 'month') {
      return { ...role, time: isDayFirst(role.time) === (answer === 'day') ? role.time : other };
    }
    const decided = sureOnes.find(({ time }) => isOrdered(time));
    if (decided) {
      const isSame = isDayFirst(decided.time) === isDayFirst(role.time);
      return { ...role, time: isSame ? role.time : other };
    }
    const future = (time: string) => futureOnes({ ...role, time }, now);
    const time = future(other) < future(role.time) ? other : role.time;
    const doubt = `day and month may be the other way round: ${time === other ? role.time : other}`;
    return { ...role, time, doubt };
  });
}

function futureOnes({ column, time }: TimeRole, now: number): number {
  const read = createTimeReader({ time, timeZone: 'UTC' });
  return sampleOf(column).filter((text) => isAfter(read(text), now)).length;
}

function isAfter(reading: object, now: number): boolean {
  return 'value' in reading && Date.parse(String(reading.value)) > now;
}

/** Whether the times are when subscriptions ended: those that ended have one, active ones have none yet. */
function endsFit({ column, time }: TimeRole, status: StatusRole | undefined, now: number): boolean {
  if (!status) return true;
  const read = createTimeReader({ time, timeZone: 'UTC' });
  const gone = { cancelled: { rows: 0, dated: 0 }, expired: { rows: 0, dated: 0 } };
  let active = 0;
  let activeWith = 0;
  for (const [row, text] of column.texts.entries()) {
    const meaning = status.meanings.get(status.column.texts[row] ?? '')?.status;
    const reading = read(text);
    const hasTime = 'value' in reading;
    if (meaning === 'cancelled' || meaning === 'expired') {
      gone[meaning].rows += 1;
      if (hasTime) gone[meaning].dated += 1;
    } else {
      active += 1;
      if (hasTime && !isAfter(reading, now)) activeWith += 1;
    }
  }
  // A time of cancellation need not be there for what expired.
  const fits = Object.values(gone).some(({ rows, dated }) => rows > 0 && dated * 2 >= rows);
  return fits && activeWith * 5 <= active;
}

/** Whether some of a column's times are still to come. */
export function hasFuture(role: TimeRole, now: number): boolean {
  return futureOnes(role, now) > 0;
}

/** How long customers have been there, as a number of units. */
export interface TenureRole {
  readonly column: Column;
  readonly time: 'days-ago' | 'weeks-ago' | 'months-ago' | 'years-ago';
  /** Whether the unit is a guess. */
  readonly isUnsure: boolean;
}

const timesOf = {
  day: 'days-ago',
  week: 'weeks-ago',
  month: 'months-ago',
  year: 'years-ago',
} as const;
const countPattern = /^\d{1,5}(?:\.\d+)?$/;
/** No customer's tenure is longer, in months. */
const maxMonths = 600;

export function findTenure(columns: readonly Column[], answers: Answers): TenureRole | undefined {
  const best = bestOf(columns, (column) => {
    const { counts, words } = column;
    const texts = [...counts.keys()];
    if (!column.is('tenure') || column.is('notTenure') || column.is('price')) return 0;
    if (texts.length === 0 || !texts.every((text) => countPattern.test(text))) return 0;
    const isMain = /tenure|antiguedad|anciennete|account|subscription|kunden|vertrag|service/.test(
      words,
    );
    return (isMain ? 80 : 60) - (column.is('interval') && !isMain ? 20 : 0);
  });
  if (!best) return undefined;
  const column = best.found;
  const answer = periodUnits.find((each) => each === answers.get('tenure'));
  const unit = answer ?? periodOfName(column.words)?.unit;
  if (unit) return { column, time: timesOf[unit], isUnsure: false };
  const most = Math.max(...[...column.counts.keys()].map(Number));
  return { column, time: most > maxMonths ? 'days-ago' : 'months-ago', isUnsure: true };
}
