import { createTimeReader } from '../times.ts';
import { type Answers, chosenColumn } from './answers.ts';
import { type Column, bestOf, sampleOf } from './table.ts';
import { periodOfName, periodUnits } from './names.ts';
import type { StatusRole } from './status-role.ts';

/** A column of times, and how it writes them. */
export interface TimeRole {
  readonly column: Column;
  readonly time: string;
  /** Why the format may be wrong. */
  readonly doubt?: string;
  /** Whether the column itself is a guess. */
  readonly isUnsure: boolean;
}

/** Fewer readable values, and the column is no time. */
const readableShare = 0.9;
const named = /date|datum|fecha|\bdata\b|time|\b(?:at|on|since|utc|desde|seit|depuis|le|sinds)\b/;

export function findTimes(
  columns: readonly Column[],
  status: StatusRole | undefined,
  now: number,
  answers: Answers,
) {
  const times = decideOrders(columns.flatMap(timeOf), now, answers.get('order'));
  const pick = (score: (role: TimeRole) => number, from = times) => bestOf(from, score);
  const timeColumns = times.map(({ column }) => column);

  const chosenEnd = chosenColumn(answers, 'ended', timeColumns);
  const isChosenEnd = ({ column }: TimeRole) => (column === chosenEnd ? 100 : 0);
  const isNamedEnd = (role: TimeRole) => {
    const { column } = role;
    const isOther =
      column.is('next') || /\b(?:period|trial|billing|month|paid|card)\b/.test(column.words);
    if (!column.is('ended') || isOther) return 0;
    const fits = endsFit(role, status, now);
    return fits ? (column.is('strongEnd') ? 80 : 60) : 0;
  };
  const sureEnd = pick(chosenEnd === undefined ? isNamedEnd : isChosenEnd)?.found;
  const rest = times.filter((role) => role !== sureEnd && !role.column.is('notStart'));
  const chosen = chosenColumn(answers, 'start', [...timeColumns, ...tenureCandidates(columns)]);
  const guessed = pick((role) => {
    const { column } = role;
    if (column.is('next') || (column.is('ended') && !column.is('start'))) return 0;
    if (!column.is('start')) return shareOf(role) >= 0.9 ? 10 : 0;
    return 60 + (column.is('subscription') ? 10 : 0) - (shareOf(role) < 0.9 ? 40 : 0);
  }, rest);
  const start =
    chosen === undefined ? guessed : pick(({ column }) => (column === chosen ? 100 : 0), times);
  const nextOf = (role: TimeRole) => (role.column.is('next') && role !== start?.found ? 60 : 0);
  const found = {
    start: start && { ...start.found, isUnsure: start.score < 60 },
    next: pick(nextOf)?.found,
    paidThrough: pick(({ column }) => (paidThrough.test(column.words) ? 60 : 0))?.found,
    updated: pick((role) => (role.column.is('updated') ? 60 : 0))?.found,
  };
  const taken = new Set(Object.values(found).map((role) => role?.column));
  const maybeEnds = times.filter((role) => {
    const { column } = role;
    const isOther = taken.has(column) || column.is('start') || column.is('notEnded');
    return !isOther && mayBeEnd(role, start?.found) && endsFit(role, status, now);
  });
  const guessedEnd = pick(
    ({ column }) => (column.is('maybeEnded') ? 20 : maybeEnds.length === 1 ? 10 : 0),
    maybeEnds,
  );
  const ended =
    sureEnd ??
    (guessedEnd && chosenEnd === undefined ? { ...guessedEnd.found, isUnsure: true } : undefined);
  // `times`: all columns of times.
  return { ...found, ended, times };
}

/** Whether some rows have a time, and hardly any one before the subscription began. */
function mayBeEnd(role: TimeRole, start: TimeRole | undefined): boolean {
  const { filled, texts } = role.column;
  if (filled === 0 || filled === texts.length) return false;
  if (!start) return true;
  const [readEnd, readStart] = [role, start].map(({ time }) =>
    createTimeReader({ time, timeZone: 'UTC' }),
  );
  const early = texts.filter((text, row) => {
    const began = readStart?.(start.column.texts[row] ?? '') ?? {};
    return isAfter(began, timeIn(readEnd?.(text) ?? {}));
  });
  return early.length * 50 <= filled;
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
  const { words } = column;
  const mayBeNumber =
    named.test(words) || column.is('start') || column.is('ended') || column.is('maybeEnded');
  const isNumberOfUnits = periodOfName(words) !== undefined;
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
  return timeIn(reading) > now;
}

/** Epoch milliseconds; NaN if it could not be read. */
function timeIn(reading: object): number {
  return 'value' in reading ? Date.parse(String(reading.value)) : Number.NaN;
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

/** A number of units that are not a billing period: "Weeks As Member", "years with us". */
const unitsOf =
  /\b(?:days|weeks|wks|years|yrs|tage|wochen|jahre|jours|semaines|ans|annees|dias|semanas|anos|giorni|settimane|anni|dagen|weken|jaren?)\b/;
const ofMembership =
  /\b(?:as|with|us|active|enrolled|subscribed|here|loyal|als|bei|dabei|aktiv|abonniert|comme|avec|chez|como|con|nosotros|come|noi|iscritto|bij|lid|service|book)\b/;

function isTenure(column: Column): boolean {
  const { words } = column;
  if (column.is('notTenure')) return false;
  const isOfCustomer = ofMembership.test(words) || column.is('customer');
  return column.is('tenure') || (unitsOf.test(words) && isOfCustomer);
}

/** The columns that may say how long customers have been there. */
export function tenureCandidates(columns: readonly Column[]): Column[] {
  return columns.filter(
    (column) =>
      column.counts.size > 0 &&
      !column.is('contact') &&
      !column.is('price') &&
      [...column.counts.keys()].every((text) => countPattern.test(text)),
  );
}

export function findTenure(columns: readonly Column[], answers: Answers): TenureRole | undefined {
  const counts = tenureCandidates(columns);
  const chosen = chosenColumn(answers, 'start', counts);
  if (chosen === null) return undefined;
  const best = bestOf(counts, (column) => {
    const { words } = column;
    if (chosen) return column === chosen ? 100 : 0;
    if (!isTenure(column)) return 0;
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
  const most = [...column.counts.keys()].reduce((max, text) => Math.max(max, Number(text)), 0);
  return { column, time: most > maxMonths ? 'days-ago' : 'months-ago', isUnsure: true };
}

/** How a column writes times. */
interface TimeGuess {
  /** A format of mappings. */
  readonly time: string;
  /** The share of its values that are read. */
  readonly share: number;
  /** Another order of day and month that reads as many values. */
  readonly other?: string;
}

const sampled = 50;

const clock = String.raw`(?:(,? +|T)(\d{1,2}):(\d\d)(:\d\d)?( ?)([AaPp][Mm])?)?`;
const numeric = new RegExp(
  String.raw`^(\d{1,4})([-/. ])(\d{1,2}|[A-Za-z]{3,9})\2(\d{4}|\d{1,2})${clock}$`,
);
const byName = new RegExp(String.raw`^([A-Za-z]{3,9}) \d{1,2}(,?) \d{4}${clock}$`);

/**
 * Guesses how times are written.
 * @param texts distinct values that are not empty
 * @param mayBeNumber whether the column's name speaks of a time, so that its numbers may be one
 */
function guessTimes(texts: readonly string[], mayBeNumber: boolean): TimeGuess | undefined {
  const formats = new Set<string>(candidates(texts, mayBeNumber));
  const guesses = [...formats].map((time) => ({ time, share: readShare(time, texts) }));
  const best = guesses.toSorted((a, b) => b.share - a.share)[0];
  if (!best || best.share === 0) return undefined;
  const same = guesses.filter(({ share, time }) => share === best.share && time !== best.time);
  const other = same.find(({ time }) => isSwapped(time, best.time));
  return other ? { ...best, other: other.time } : best;
}

/** The share of texts that a format reads. */
function readShare(time: string, texts: readonly string[]): number {
  const read = createTimeReader({ time, timeZone: 'UTC' });
  return texts.filter((text) => isPlausible(read(text))).length / texts.length;
}

/** Numbers that are read as times of other centuries are something else. */
function isPlausible(reading: object): boolean {
  if (!('value' in reading)) return false;
  const year = Number(String(reading.value).slice(0, 4));
  return year >= 1990 && year < 2100;
}

function candidates(texts: readonly string[], mayBeNumber: boolean): string[] {
  const isNumber = /^\d+(?:[.,]\d+)?$/.test(texts[0] ?? '');
  if (isNumber) {
    if (!mayBeNumber) return [];
    const isExcels = texts.every(isRecentExcel);
    return ['unix-seconds', 'unix-milliseconds', 'YYYYMMDD', ...(isExcels ? ['excel'] : [])];
  }
  const found = texts.slice(0, sampled).flatMap(patternsOf);
  return ['iso', ...found];
}

/** Whether a number is a day of the years 2000 to 2049, as Excel counts days. */
function isRecentExcel(text: string): boolean {
  const days = Number(text.replace(',', '.'));
  return days >= 36_526 && days < 54_789;
}

function patternsOf(text: string): string[] {
  const spelled = byName.exec(text);
  if (spelled) return [`MMM D${spelled[2]} YYYY${clockOf(spelled.slice(3))}`];
  const match = numeric.exec(text);
  if (!match) return [];
  const [, first = '', mark = '', middle = '', last = ''] = match;
  const time = clockOf(match.slice(5));
  if (first.length === 4) return [`YYYY${mark}M${mark}D${time}`];
  const year = last.length === 4 ? 'YYYY' : 'YY';
  if (/[a-z]/i.test(middle)) return [`D${mark}MMM${mark}${year}${time}`];
  const days = `D${mark}M${mark}${year}${time}`;
  const months = `M${mark}D${mark}${year}${time}`;
  // Slashes are mostly American; dots and dashes hardly ever.
  return mark === '/' ? [months, days] : [days, months];
}

function clockOf([gap, hour, , seconds, space = '', half]: readonly (
  | string
  | undefined
)[]): string {
  if (hour === undefined) return '';
  return `${gap}${half ? 'h' : 'H'}:mm${seconds ? ':ss' : ''}${half ? `${space}A` : ''}`;
}

function isSwapped(a: string, b: string): boolean {
  return a.replaceAll(/[DM]/g, 'x') === b.replaceAll(/[DM]/g, 'x');
}
