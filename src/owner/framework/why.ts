import { type Html, html } from '../../http/html.ts';
import { type ExplainedValue, explain } from '../../metrics/explain/explain.ts';
import {
  type Dimension,
  type ExplainedFigure,
  dimensionsOf,
} from '../../metrics/explain/question.ts';
import { findFirstDay } from '../../metrics/history.ts';
import { parseDecimal } from '../../money.ts';
import { shopPath } from '../site.ts';
import {
  signedFormat,
  moneyFormat,
  formatRate,
  pointsFormat,
  rateBase,
  rounded,
} from '../ui/formats.ts';
import { reasonLabels } from '../ui/labels.ts';
import type { DetectedReason } from '../../vocabulary.ts';
import { choices } from '../view/picker.ts';
import { gapIn, viewPath } from '../view/view.ts';
import { type Exhibit, signedBar, tableExhibit } from './exhibits.ts';
import type { Choices } from '../view/choices.ts';
import { type FiguresVisit, whyId } from './page.ts';

/** What explains the change of a page's figure. */
interface Why {
  readonly figure: ExplainedFigure;
  readonly betterWhen: 'higher' | 'lower';
  /** The list of the rows that it counts, with its filters and the parameters that say a value of a dimension. */
  readonly list: string;
  readonly filters?: Readonly<Record<string, string>>;
  readonly names?: Partial<Record<Dimension, string>>;
}

const labels: Readonly<Record<Dimension, string>> = {
  plan: 'Plan',
  interval: 'Interval',
  age: 'Age',
  price: 'Price',
  source: 'Source',
  reason: 'Reason',
};

/** The conditions of segments, which every list has. */
const conditions: Partial<Record<Dimension, string>> = {
  plan: 'plan',
  interval: 'interval',
  price: 'price',
};

/** Prices as people write them, and reasons as everywhere. */
function labelOf(
  { value, label }: ExplainedValue,
  by: Dimension,
  money: (value: number) => string,
) {
  if (by === 'reason') return reasonLabels[value as DetectedReason] ?? label;
  if (by !== 'price' || value === null) return label;
  const [from, to] = String(value).split('-').map(Number) as [number, number];
  return to === 0 ? `${money(from)} and more` : `${money(from)} to under ${money(to)}`;
}

/** A segment's price includes its end, a band does not. */
const condition = (value: string, by: Dimension) =>
  by === 'price' ? value.replace(/-(\d+)$/, (_, to) => `-${Number(to) - 1}.999999`) : value;

/** A column of numbers. */
const number = (
  label: string,
  cell: (row: ExplainedValue) => Html | string,
  file?: (row: ExplainedValue) => number | null | undefined,
) => ({
  label,
  kind: 'number' as const,
  cell,
  ...(file && { file: { [label]: (row: ExplainedValue) => file(row) ?? null } }),
});

/** A table of what a change of a figure is made of, by the dimension in the address. */
export const whyOf = (why: Why) => ({
  choices: { by: ['a dimension', dimensionsOf(why.figure)] } satisfies Choices,
  read: (visit: FiguresVisit) => readWhy(why, visit),
});

async function readWhy(
  { figure, betterWhen, list, filters, names }: Why,
  visit: FiguresVisit,
): Promise<Exhibit> {
  const { shop, view, parts } = visit;
  const { period, now, segment } = view;
  // What holds at an instant changed since the period began.
  const before = figure === 'mrr' ? { from: period.from, until: period.from } : view.before;
  const dimensions = dimensionsOf(figure);
  const chosen = dimensions.find((each) => each === visit.query.get('by'));
  const by = chosen ?? 'plan';
  const isAsked = !segment && (chosen !== undefined || (await visit.isQuick()));
  const found = await parts.store.readRecent(shop.id, async ({ analyse }) => {
    const question = { figure, by, before, now: period };
    const [firstDay, explanation] = await Promise.all([
      findFirstDay(analyse, shop.id),
      isAsked ? explain(analyse, shop.id, question, now) : undefined,
    ]);
    return {
      ...explanation,
      gap: firstDay === null ? undefined : gapIn(before, firstDay),
    };
  });
  const { change = null, values: explained = [], gap } = found;
  const nothing = { before: { n: 0, d: 0 }, part: null, rate: null, mix: null, isChance: false };
  const values = gap ? explained.map((each) => ({ ...each, ...nothing })) : explained;
  const isRate = values.some((each) => each.now.d !== undefined);
  const amount = moneyFormat(visit);
  const signed = isRate ? pointsFormat(visit) : signedFormat(amount);
  const part = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : signed(value);
  const rate = ({ n, d }: ExplainedValue['now']) =>
    d === undefined ? amount(n) : formatRate(visit, { share: n / d, of: d });
  const base = ({ n, d }: ExplainedValue['now']) => d !== undefined && rateBase(visit, n, d);
  const isMoney = figure === 'mrr';
  /** Amounts have as many digits as in other files. */
  const inFile = (value: number | null) =>
    value !== null && isMoney ? rounded(parseDecimal(value.toFixed(12)), shop) : value;
  const cases = (label: string, when: 'before' | 'now') => ({
    ...number(label, (row) => html`${rate(row[when])} ${base(row[when])}`),
    file: {
      [isMoney ? label : `${label}, cases`]: (row: ExplainedValue) => inFile(row[when].n),
      ...(isRate && { [`${label}, of`]: (row: ExplainedValue) => row[when].d ?? null }),
    },
  });
  const effect = (label: string, of: 'rate' | 'mix') =>
    number(
      label,
      (row) => part(row[of]),
      (row) => row[of],
    );
  const name = { ...conditions, ...names }[by];
  const most = Math.max(...values.map((each) => Math.abs(each.part ?? 0)));
  return tableExhibit<ExplainedValue>({
    id: whyId,
    noun: `${figure}-by-${by}`,
    title: 'Why it changed',
    switches: choices(
      visit,
      { name: 'by', label: 'By', shown: isAsked ? by : undefined },
      dimensions.map((each) => [each, labels[each]]),
    ),
    caption: gap
      ? `${gap}: nothing is compared.`
      : change !== null &&
        `${signed(change)}${isRate ? ' points' : ''} in all. Part is what each adds to it${
          isRate ? ', by its own rate and by its share of all (mix), in points' : ''
        }.`,
    look: 'parts',
    isWide: true,
    narrow: 'stacks',
    rows: values,
    none: segment
      ? 'Not known for segments.'
      : !isAsked
        ? 'Choose what to tell it by: for so many subscriptions, that takes a second.'
        : values.length === 0
          ? 'None in this period.'
          : undefined,
    limit: { rows: 10, note: (hidden) => `${hidden} more in the file.` },
    rowLook: ({ isChance }) => (isChance ? 'chance' : undefined),
    columns: [
      {
        label: labels[by],
        kind: 'head',
        cell: (row) => labelOf(row, by, amount),
        href: ({ value }) =>
          name === undefined || value === null
            ? undefined
            : viewPath(shopPath(shop, list), view, {
                ...filters,
                [name]: condition(String(value), by),
              }),
        file: { [labels[by]]: (row) => labelOf(row, by, amount) },
      },
      {
        label: '',
        kind: 'bar',
        cell: (row) =>
          row.part
            ? signedBar(row.part / most, row.part > 0 === (betterWhen === 'higher'))
            : undefined,
      },
      {
        ...number(
          'Part',
          (row) =>
            html`${part(row.part)}
            ${row.isChance && Boolean(row.part) && html`<small>may be chance</small>`}`,
          (row) => inFile(row.part),
        ),
        kind: 'number main',
      },
      cases('Before', 'before'),
      cases('Now', 'now'),
      ...(isRate ? [effect('Rate', 'rate'), effect('Mix', 'mix')] : []),
      ...(isMoney ? [{ label: 'Currency', file: { Currency: () => shop.currency } }] : []),
    ],
  });
}
