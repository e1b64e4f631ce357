import { type SubscriptionStatus, subscriptionStatuses } from '../../vocabulary.ts';
import { type Interval, periodUnits } from './names.ts';
import type { Column } from './table.ts';

/** What a person says about a file, by the ids of questions. What is not valid counts as not said. */
export type Answers = ReadonlyMap<string, string>;

export const noAnswers: Answers = new Map();

/** What a database says of its rows, and a file does not. */
export interface Relations {
  /** The columns in which rows may have no value. */
  readonly mayBeEmpty: ReadonlySet<string>;
  /** The columns of other tables, each with the row's own column that says which row is joined. */
  readonly joined: ReadonlyMap<string, string>;
  /** The columns that identify a subscription and its line, if each row is a line. */
  readonly group?: { readonly by: string; readonly line: string } | undefined;
}

export const noRelations: Relations = { mayBeEmpty: new Set(), joined: new Map() };

/** What is known besides the file. */
export interface RoleContext {
  readonly relations: Relations;
  /** Epoch milliseconds: what is later has not happened. */
  readonly now: number;
  /** Decimals of the shop's currency. */
  readonly minorDigits: number;
  readonly answers: Answers;
}

/** The answer that the file has no such column. */
const none = '';
/** The answer that a column of the file says how often a price is charged. */
export const byColumn = 'column';

/** @returns the column that was chosen; null if the file has none; undefined if nothing was said */
export function chosenColumn(
  answers: Answers,
  question: string,
  columns: readonly Column[],
): Column | null | undefined {
  const answer = answers.get(question);
  return answer === none ? null : columns.find(({ name }) => name === answer);
}

/** What of a file a question is about. */
export interface Use {
  readonly taken: Column | undefined;
  /** The columns whose values it could have. */
  readonly fitting: readonly Column[];
}

/** @param guess what is taken if no answer says anything else */
export function useOf(
  answers: Answers,
  question: string,
  fitting: readonly Column[],
  guess: Column | undefined,
): Use {
  const chosen = chosenColumn(answers, question, fitting);
  return { taken: chosen === null ? undefined : (chosen ?? guess), fitting };
}

/** What a text in the column of the status means; the empty text stands for rows without a value. */
export function chosenMeaning(
  answers: Answers,
  text: string,
): SubscriptionStatus | 'skip' | undefined {
  const answer = answers.get(`meaning:${text}`);
  return answer === 'skip' ? 'skip' : subscriptionStatuses.find((status) => status === answer);
}

/** Such as "month:3". */
export function chosenInterval(answers: Answers): Interval | undefined {
  const [, word, count] = /^(\w+):([1-9]\d?)$/.exec(answers.get('interval') ?? '') ?? [];
  const unit = periodUnits.find((each) => each === word);
  return unit && { unit, count: Number(count) };
}
