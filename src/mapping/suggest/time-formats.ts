import { createTimeReader } from '../times.ts';

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
export function guessTimes(texts: readonly string[], mayBeNumber: boolean): TimeGuess | undefined {
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
