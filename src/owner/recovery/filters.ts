import { ServiceError } from '../../errors.ts';
import {
  type AfterClosed,
  type AfterOpen,
  type CaseOrder,
  type ClosedFilter,
  type Range,
  caseOrders,
} from '../../metrics/recovery/cases.ts';
import { type Result, results } from '../../metrics/recovery/figures.ts';
import { cursorError } from '../../operations/parameters.ts';
import { failureCodeForm, failureCodePattern } from '../../vocabulary.ts';
import type { ShopVisit } from '../pages.ts';
import { parameter } from '../ui/listing.ts';
import { daysIn, partOf } from '../view/days.ts';
import type { View } from '../view/view.ts';

/** In addresses, cases without a failure code; no code has parentheses. */
const noCode = '(none)';

export function codeParameter(code: string | null): string {
  return code ?? noCode;
}

/**
 * null: only cases without a code; undefined: any.
 * @throws ServiceError invalid, for what is no code
 */
export function codeOf(visit: ShopVisit): string | null | undefined {
  const code = parameter(visit, 'code');
  if (code === noCode) return null;
  if (code === undefined || failureCodePattern.test(code)) return code;
  throw new ServiceError('invalid', `code must be ${failureCodeForm}, or ${noCode}.`);
}

export function orderOf(visit: ShopVisit): CaseOrder {
  return oneOf('order', caseOrders, parameter(visit, 'order')) ?? 'oldest';
}

/** Which closed cases a page shows: those of its period, or of some days of it. */
export function closedFilterOf(visit: ShopVisit, { period }: View): ClosedFilter {
  return {
    ...partOf(period, daysIn(visit)),
    result: resultOf(visit),
    code: codeOf(visit),
    attempts: rangeOf(visit, 'attempts') ?? [1, most],
    retries: rangeOf(visit, 'retries') ?? [0, most],
  };
}

function resultOf(visit: ShopVisit): Result | undefined {
  return oneOf('result', results, parameter(visit, 'result'));
}

const most = 1_000_000;

/** Such as 2, or 4+ for 4 or more. */
function rangeOf(visit: ShopVisit, name: string): Range | undefined {
  const text = parameter(visit, name);
  if (text === undefined) return undefined;
  const [, count, more] = /^([1-9]\d{0,2})(\+?)$/.exec(text) ?? [];
  if (count === undefined) {
    throw new ServiceError(
      'invalid',
      `${name} must be a number from 1 to 999, such as 2, or 4+ for 4 or more.`,
    );
  }
  return [Number(count), more === '+' ? most : Number(count)];
}

function oneOf<Word extends string>(
  name: string,
  words: readonly Word[],
  text: string | undefined,
): Word | undefined {
  const word = words.find((each) => each === text);
  if (word !== undefined || text === undefined) return word;
  throw new ServiceError('invalid', `${name} must be one of ${words.join(', ')}.`);
}

type OpenPlace = NonNullable<AfterOpen>;
type ClosedPlace = NonNullable<AfterClosed>;

export function openCursor({ amount, openedAt, subscriptionId, position }: OpenPlace): string {
  return [amount, openedAt.getTime(), subscriptionId, position].join('_');
}

export function closedCursor({
  closedAt,
  openedAt,
  subscriptionId,
  position,
}: ClosedPlace): string {
  return [closedAt.getTime(), openedAt.getTime(), subscriptionId, position].join('_');
}

/** @throws ServiceError invalid, for text that is no cursor */
export function afterOpen(cursor: string | undefined): AfterOpen {
  const place = placeOf(cursor);
  return place && { amount: place.first, ...place.rest };
}

/** @throws ServiceError invalid, for text that is no cursor */
export function afterClosed(cursor: string | undefined): AfterClosed {
  const place = placeOf(cursor);
  if (place?.first.includes('.')) throw new ServiceError('invalid', cursorError);
  return place && { closedAt: new Date(Number(place.first)), ...place.rest };
}

const cursorPattern = /^(\d{1,13}(?:\.\d{1,6})?)_(\d{1,13})_(\d{1,16})_(\d{1,9})$/;

function placeOf(cursor: string | undefined) {
  if (cursor === undefined) return undefined;
  const [, first, openedAt, id, position] = cursorPattern.exec(cursor) ?? [];
  if (first === undefined) throw new ServiceError('invalid', cursorError);
  const rest = {
    openedAt: new Date(Number(openedAt)),
    subscriptionId: Number(id),
    position: Number(position),
  };
  return { first, rest };
}
