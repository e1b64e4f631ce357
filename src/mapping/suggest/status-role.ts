import { type Answers, chosenColumn, chosenMeaning } from './answers.ts';
import { isFormer } from './names.ts';
import { type Column, bestOf } from './table.ts';
import {
  type StatusMeaning,
  knownStatuses,
  statusOf,
  statusOfLetter,
  yesOrNo,
} from './meanings.ts';

/** The column that says which subscriptions are active, and what its values mean. */
export interface StatusRole {
  readonly column: Column;
  readonly meanings: ReadonlyMap<string, StatusMeaning>;
  /** Its other texts, whose rows are refused until a person says what they mean. */
  readonly unknown: readonly string[];
  /** What rows without a value are. */
  readonly blank: StatusMeaning;
  readonly isUnsure: boolean;
}

const maxValues = 40;
/** A longer text is no status: it stands in no mapping, and its rows are refused. */
const maxCharacters = 100;
/** A column is taken for the status if this share of its rows is understood. */
const understoodShare = 0.6;
const sureScore = 60;

/** The columns that may be the status. */
export function statusCandidates(columns: readonly Column[]): Column[] {
  return columns.filter(
    ({ counts, filled }) => counts.size > 0 && counts.size <= maxValues && filled > 0,
  );
}

export function findStatus(columns: readonly Column[], answers: Answers): StatusRole | undefined {
  const candidates = statusCandidates(columns);
  const chosen = chosenColumn(answers, 'status', candidates);
  if (chosen === null) return undefined;
  const best = chosen ? { found: chosen, score: sureScore } : bestOf(candidates, scoreOf);
  if (!best) return undefined;
  const { found: column, score } = best;
  const meanings = meaningsOf(column, answers);
  return {
    column,
    meanings,
    unknown: column.values.filter((text) => isMeant(text) && !meanings.has(text)),
    blank: chosenOr(answers, '', { status: 'active', isUnsure: true }),
    isUnsure: score < sureScore,
  };
}

function scoreOf(column: Column): number {
  const texts = column.values;
  const isNamed = column.is('status') || column.is('churn') || column.is('active');
  const isOther = column.is('otherStatus') || isFormer.test(column.words);
  const penalty = (isOther ? 40 : 0) + (texts.length === 1 ? 15 : 0);
  if (column.isFlag) {
    if (isBooked.test(column.words)) return 0;
    const points = column.is('churn')
      ? 90
      : column.is('active')
        ? 70
        : column.is('status')
          ? 40
          : 0;
    return (points || (isOfCustomers.test(column.words) ? 55 : 0)) - penalty;
  }
  const understood = texts.filter((text) => meaningIn(column, text));
  const rows = understood.reduce((sum, text) => sum + (column.counts.get(text) ?? 0), 0);
  const isAll = understood.length === texts.length;
  if (isNamed && rows >= column.filled * understoodShare) return (isAll ? 95 : 85) - penalty;
  if (isAll && texts.length > 1) return 50 - penalty;
  // One word of a status that is understood is better than none.
  return column.is('status') && understood.length > 0 ? 45 - penalty : 0;
}

/** A flag of what is still to come: "cancel_at_period_end", "cancellation_requested". */
const isBooked = /\b(?:at|will|to|pending|scheduled|requested)\b/;

/** A flag such as "Subscriber", of a list that also has those who no longer are. */
const isOfCustomers = /^(?:is )?(?:subscriber|customer|member|kunde|abonnent|mitglied)$/;

const isMeant = ({ length }: string) => length <= maxCharacters;

function meaningsOf(column: Column, answers: Answers): Map<string, StatusMeaning> {
  const texts = column.values.filter(isMeant);
  const guess = (text: string) =>
    column.isFlag ? meaningOfFlag(column, text) : meaningIn(column, text);
  const found = texts.flatMap((text) => {
    const meaning = chosenOr(answers, text, guess(text));
    return meaning ? [[text, meaning] as const] : [];
  });
  // The next file may have a word that this one has not.
  const known = (column.isFlag ? [] : knownStatuses(texts)).flatMap((text) => {
    const meaning = column.counts.has(text) ? undefined : statusOf(text);
    return meaning ? [[text, meaning] as const] : [];
  });
  return new Map([...found, ...known]);
}

function meaningOfFlag(column: Column, text: string): StatusMeaning {
  const isActive = yesOrNo(text) !== column.is('churn');
  const isUnsure = !column.is('churn') && !column.is('active');
  return { status: isActive ? 'active' : 'cancelled', isUnsure };
}

/** Letters mean something only in a column that is called a status. */
function meaningIn(column: Column, text: string): StatusMeaning | undefined {
  const isOfStatus = column.is('status') && !column.is('otherStatus');
  return statusOf(text) ?? (isOfStatus ? statusOfLetter(text) : undefined);
}

function chosenOr<Guess extends StatusMeaning | undefined>(
  answers: Answers,
  text: string,
  guess: Guess,
): StatusMeaning | Guess {
  const status = chosenMeaning(answers, text);
  return status ? { status, isUnsure: false } : guess;
}
