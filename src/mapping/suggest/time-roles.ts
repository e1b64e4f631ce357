import { createTimeReader } from '../times.ts';
import { type Answers, type RoleContext, chosenColumn } from './answers.ts';
import { type Column, bestOf, sampleOf } from './table.ts';
import { guessTimes } from './time-formats.ts';
import { type Interval, periodOfName, periodUnits } from './names.ts';
import type { StatusRole } from './status-role.ts';

/** A column of times, and how it writes them. */
export interface TimeRole {
  readonly column: Column;
  readonly time: string;
  /** Epoch milliseconds of each row; NaN where there is none. */
  readonly at: readonly number[];
  /** Why the format may be wrong. */
  readonly doubt?: string;
  /** Why it may be another time than its name says. */
  readonly caution?: string | undefined;
  /** Whether the column itself is a guess. */
  readonly isUnsure: boolean;
}

/** Fewer readable values, and the column is no time. */
const readableShare = 0.9;
/** The same for a column whose name speaks of a time: its other rows are refused. */
const namedShare = 0.5;
const named = /date|datum|fecha|\bdata\b|time|\b(?:at|on|since|utc|desde|seit|depuis|le|sinds)\b/;

function isNamedEnd({ column }: TimeRole): boolean {
  const others =
    /\b(?:period|billing|month|paid|card|schedule|pause|paused|promo|discount|coupon|commitment)\b/;
  const isOther = column.is('next') || column.is('trial') || others.test(column.words);
  return column.is('ended') && !isOther;
}

export function findTimes(
  columns: readonly Column[],
  status: StatusRole | undefined,
  { now, answers }: RoleContext,
) {
  const times = decideOrders(columns.flatMap(timeOf), now, answers.get('order'));
  const timeColumns = times.map(({ column }) => column);
  /** What a person says that it is, else the best of some columns. */
  const pick = (
    question: string,
    score: (role: TimeRole) => number,
    { from = times, fitting = timeColumns } = {},
  ) => {
    const chosen = chosenColumn(answers, question, fitting);
    if (chosen === undefined) return bestOf(from, score);
    return bestOf(times, ({ column }) => (column === chosen ? 100 : 0));
  };
  const byName = (question: string, isIt: (role: TimeRole) => boolean) =>
    pick(question, (role) => (isIt(role) ? 60 : 0))?.found;

  const isEndChosen = chosenColumn(answers, 'ended', timeColumns) !== undefined;
  const namedEnds = times.filter(isNamedEnd);
  const fitting = namedEnds.filter((role) => endsFit(role, status, now));
  const requests = fitting.filter(({ column }) => endKindOf(column) === 'request');
  const sureEnd = pick('ended', (role) => endScore(role, requests), { from: fitting })?.found;
  const rest = times.filter(
    (role) => role !== sureEnd && !role.column.is('notStart') && !role.column.is('trial'),
  );
  const startScore = (role: TimeRole) => {
    const { column } = role;
    if (column.is('next') || (column.is('ended') && !column.is('start'))) return 0;
    const { filled, strayWords, texts } = column;
    const rows = [...strayWords.values()].reduce((sum, each) => sum + each, filled);
    const isOfMost = rows >= texts.length * 0.9;
    if (!column.is('start')) return isOfMost ? 10 : 0;
    const points = (column.is('subscription') ? 10 : 0) + (isOfRow.test(column.words) ? 0 : 5);
    // What only some rows have.
    return 60 + points - (isOfMost ? 0 : 40);
  };
  const start = pick('start', startScore, {
    from: rest,
    fitting: [...timeColumns, ...tenureCandidates(columns)],
  });
  const betterStart = ({ column }: TimeRole) => {
    const other = rest.find((role) => role.column.is('start') && !isOfRow.test(role.column.words));
    return (
      other && `"${column.name}" may be when the row was made, and "${other.column.name}" the start`
    );
  };
  const trialEnd = byName('trialEnd', ({ column }) => column.is('trial') && column.is('ended'));
  const found = {
    start: start && {
      ...start.found,
      isUnsure: start.score < 60,
      caution: isOfRow.test(start.found.column.words) ? betterStart(start.found) : undefined,
    },
    next: byName('next', (role) => role.column.is('next') && role !== start?.found),
    paidThrough: byName('paidThrough', ({ column }) => paidThrough.test(column.words)),
    updated: byName('updated', ({ column }) => column.is('updated')),
    trialEnd: trialEnd && { ...trialEnd, caution: doubtOfTrial(trialEnd, start?.found) },
  };
  const taken = new Set(Object.values(found).map((role) => role?.column));
  const maybeEnds = times.filter((role) => {
    const { column } = role;
    const isOther = notEnds.some((kind) => column.is(kind)) || taken.has(column);
    return !isOther && mayBeEnd(role, start?.found) && endsFit(role, status, now);
  });
  const guessedEnd = bestOf(maybeEnds, ({ column }) =>
    column.is('maybeEnded') ? 20 : maybeEnds.length === 1 ? 10 : 0,
  )?.found;
  const doubt = { status, now, columns, requests };
  const ended = sureEnd
    ? { ...sureEnd, caution: isEndChosen ? undefined : doubtOfEnd(sureEnd, doubt) }
    : !isEndChosen && guessedEnd
      ? { ...guessedEnd, isUnsure: true }
      : undefined;
  // `times`: all columns of times. `strayEnds`: those whose name is an end, and whose values are not.
  const strayEnds = ended ? [] : namedEnds.filter((role) => !fitting.includes(role));
  return { ...found, ended, times, strayEnds };
}

const notEnds = ['start', 'notEnded', 'price', 'notPrice', 'id', 'event'] as const;

/** What a date of an end is: when it ended, when that was asked for, or when it will end unless renewed. */
function endKindOf({ words }: Column): 'end' | 'request' | 'scheduled' {
  if (scheduledEnd.test(words)) return 'scheduled';
  return requestedEnd.test(words) ? 'request' : 'end';
}

const scheduledEnd =
  /\b(?:cancels? at|ends at|ends on|expires?|expiry|expiration|valid (?:until|to)|term|until|bis|effective end|hasta)\b|\b(?:will|scheduled)\b/;
const requestedEnd =
  /cancel|kundig|gekundigt|resili|storn|disdet|disdetta|opgezeg|opzeg|unsubscri|rezygn|\bbaja\b/;

/** The real end first; a term's end only where it follows the requests. */
function endScore(role: TimeRole, requests: readonly TimeRole[]): number {
  const kind = endKindOf(role.column);
  if (kind === 'request') return 70;
  const [request] = requests;
  const isOfAll = shareOf(role) > 0.95;
  if (!request) return kind === 'end' ? 80 : 50;
  const pairs = pairsOf(request, role);
  const isLater = pairs.length > 0 && pairs.every(([asked, end]) => end >= asked - day);
  if (isOfAll && shareOf(request) < 0.95) return 45;
  return isLater || kind === 'end' ? 80 : 50;
}

const day = 24 * 3600 * 1000;

/** The times of two columns in the rows that have both. */
function pairsOf(one: TimeRole, other: TimeRole): [number, number][] {
  return one.at
    .map((at, row): [number, number] => [at, other.at[row] ?? Number.NaN])
    .filter(([at, then]) => !Number.isNaN(at + then));
}

interface EndContext {
  readonly status: StatusRole | undefined;
  readonly now: number;
  readonly columns: readonly Column[];
  readonly requests: readonly TimeRole[];
}

/** Why the end may be another one, by what else the file has. */
function doubtOfEnd(
  role: TimeRole,
  { status, now, columns, requests }: EndContext,
): string | undefined {
  const { name } = role.column;
  const kind = endKindOf(role.column);
  if (kind === 'scheduled') return `"${name}" may be when a term ends, even if it goes on; ${past}`;
  const [request] = requests;
  if (kind === 'end') {
    const isEarly = request && pairsOf(request, role).some(([asked, end]) => end < asked - day);
    return isEarly ? `some "${name}" are before "${request.column.name}"` : undefined;
  }
  const period = columns.find(({ words }) => ofPeriodEnd.test(words));
  if (period) return `"${name}" may be when it was asked for, and "${period.name}" the end`;
  const isOfActive = activeWith(role, status, now) > 0;
  return isOfActive || !status ? `"${name}" may be when it was asked for; ${past}` : undefined;
}

const past = 'dates to come do not count yet';
const ofPeriodEnd =
  /\b(?:period|term|cycle) (?:end|ends)\b|period end|\b(?:paid|billed) (?:until|through)|ended at|cancel at|expires|end date|^ends?$/;

/** Whether some rows have a time, and hardly any one before the subscription began. */
function mayBeEnd(role: TimeRole, start: TimeRole | undefined): boolean {
  const { filled, texts } = role.column;
  if (filled === 0 || filled === texts.length) return false;
  if (!start) return true;
  const early = pairsOf(start, role).filter(([began, end]) => began > end);
  return early.length * 50 <= filled;
}

function doubtOfTrial(trial: TimeRole, start: TimeRole | undefined): string | undefined {
  const isEarly = start && pairsOf(start, trial).some(([began, end]) => end < began - day);
  return isEarly ? `some "${trial.column.name}" are before "${start.column.name}"` : undefined;
}

const isOfRow = /\b(?:created|creation|erstellt|angelegt|creacion|criacao)\b/;
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

/** Epoch milliseconds of each row; NaN where there is no time. */
function timesIn({ values, texts }: Column, time: string): number[] {
  const read = createTimeReader({ time, timeZone: 'UTC' });
  const known = new Map(
    values.map((text) => {
      const reading = read(text);
      return [text, 'value' in reading ? Date.parse(String(reading.value)) : Number.NaN] as const;
    }),
  );
  return texts.map((text) => known.get(text) ?? Number.NaN);
}

type Undecided = TimeRole & { readonly other: string | undefined };

function timeOf(column: Column): Undecided[] {
  if (column.filled === 0 || column.is('personal')) return [];
  const { words } = column;
  const mayBeNumber =
    named.test(words) || column.is('start') || column.is('ended') || column.is('maybeEnded');
  const isNumberOfUnits = periodOfName(words) !== undefined;
  const guess = guessTimes(sampleOf(column), mayBeNumber && !isNumberOfUnits);
  if (!guess || guess.share < (mayBeNumber ? namedShare : readableShare)) return [];
  const { time, other } = guess;
  return [{ column, time, other, at: timesIn(column, time), isUnsure: false }];
}

/** Where days and months could be swapped, the other columns of the file decide, or what lies in the past. */
function decideOrders(
  roles: readonly Undecided[],
  now: number,
  answer: string | undefined,
): TimeRole[] {
  const sureOnes = roles.filter((role) => role.other === undefined);
  const decided = sureOnes.find(({ time }) => isOrdered(time));
  const isDay =
    answer === 'day' || answer === 'month' ? answer === 'day' : decided && isDayFirst(decided.time);
  return roles.map(({ other, ...role }): TimeRole => {
    if (other === undefined) return role;
    const swapped = { ...role, time: other, at: timesIn(role.column, other) };
    if (isDay !== undefined) return isDayFirst(role.time) === isDay ? role : swapped;
    const later = [role, swapped].map(({ at }) => at.filter((each) => each > now).length);
    const [found, rest] = (later[1] ?? 0) < (later[0] ?? 0) ? [swapped, role] : [role, swapped];
    return { ...found, doubt: `day and month may be the other way round: ${rest.time}` };
  });
}

/** What a row's status means. */
const statusAt = ({ column, meanings }: StatusRole, row: number) =>
  meanings.get(column.texts[row] ?? '')?.status;
const isGone = (role: StatusRole, row: number) =>
  ['cancelled', 'expired'].includes(statusAt(role, row) ?? '');

/** Whether the times are when subscriptions ended: those that ended have one, active ones have none yet. */
function endsFit(role: TimeRole, status: StatusRole | undefined, now: number): boolean {
  if (!status) return true;
  // A time of cancellation need not be there for what expired.
  const fits = ['cancelled', 'expired'].some((gone) => {
    const ends = role.at.filter((_, row) => statusAt(status, row) === gone);
    return ends.length > 0 && ends.filter((at) => !Number.isNaN(at)).length * 2 >= ends.length;
  });
  const active = role.at.filter((_, row) => !isGone(status, row));
  return fits && activeWith(role, status, now) * 5 <= active.length;
}

/** How many rows have a time in the past although their status is active. */
export function activeWith({ at }: TimeRole, status: StatusRole | undefined, now: number): number {
  return at.filter((each, row) => status && !isGone(status, row) && each <= now).length;
}

/** Whether some of a column's times are still to come. */
export function hasFuture({ at }: TimeRole, now: number): boolean {
  return at.some((each) => each > now);
}

/** How long customers have been there, as a number of units. */
export interface TenureRole {
  readonly column: Column;
  readonly time: `${Interval['unit']}s-ago`;
  /** Whether the unit is a guess. */
  readonly isUnsure: boolean;
}

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
      column.values.every((text) => countPattern.test(text)),
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
  if (unit) return { column, time: `${unit}s-ago`, isUnsure: false };
  const most = column.values.reduce((max, text) => Math.max(max, Number(text)), 0);
  return { column, time: most > maxMonths ? 'days-ago' : 'months-ago', isUnsure: true };
}
