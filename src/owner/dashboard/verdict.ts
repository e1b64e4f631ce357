import { isChanged, leastChange } from '../../metrics/explain/driver.ts';
import { type Movement, inflows, outflows } from '../../metrics/facts.ts';
import { type Figure, figures } from '../../metrics/figures.ts';
import type { Movements } from '../../metrics/movements.ts';
import { minCases, significanceOfShares } from '../../metrics/significance.ts';
import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { shopPath } from '../site.ts';
import { gapIn, viewPath } from '../view/view.ts';
import { type Words, canJudge, changeOf, shareOf, wordsOf } from './changes.ts';
import type { Counted, Judged } from './dashboard.ts';

/** A sentence of the answer. */
export interface Sentence {
  /** What comes before what leads to its rows, and after it. */
  readonly lead?: string;
  readonly text: string;
  readonly rest?: string;
  readonly rows?: Rows | undefined;
}

/** Where a sentence leads, below the shop’s pages. */
export type Rows = Pick<Figure, 'name' | 'rows' | 'filter'>;

interface Rule {
  /** For owners; the sentences themselves say only what holds. */
  readonly explained: string;
  say(judged: Judged, words: Words): Sentence | undefined;
}

/** Which MRR a movement is, after an amount. */
const sources: Readonly<Record<Movement, string>> = {
  new: 'from new subscriptions',
  added: 'from further subscriptions of the same customers',
  resumed: 'from subscriptions that resumed',
  reactivated: 'from subscriptions that came back',
  expansion: 'from higher prices or quantities',
  contraction: 'lost to lower prices or quantities',
  paused: 'lost to pauses',
  cancelled: 'lost to cancellations',
  expired: 'lost to planned ends',
  failed: 'lost to failed payments',
};

/** Figures that count some movements. */
const counted: Partial<Record<Movement, Figure>> = {
  new: figures.newSubscribers30d,
  cancelled: figures.cancelled30d,
};

/** What is told of the rest of a period: rates, and what nothing can be a rate of. */
const others: readonly Figure[] = [
  figures.churnRate30d,
  figures.cancelled30d,
  figures.failedPayments30d,
  figures.recoveryRate,
  figures.saveRate,
  figures.newSubscribers30d,
];

/** What counts are called as a share of their base. */
const shareNames: Partial<Record<Figure['field'], string>> = {
  cancelled30d: 'The share of subscriptions that were cancelled',
  failedPayments30d: 'The share of payments that failed',
};

/** What the answer says, in this order. docs/decisions/0021-figures.md */
const rules: readonly Rule[] = [
  {
    explained: `“Better” or “worse” is monthly recurring revenue (MRR): at the end of the period against its start, or against the end of the same period a year before, if that is compared with. A change of up to ${leastChange * 100}% is “about the same”. A segment by status or age is not judged: its subscriptions are chosen by how they are now.`,
    say({ movements, earlier, view, firstDay }, words) {
      const { closing } = movements;
      const { period, before } = view;
      // Of a month to date, the cards compare with the same day of the month before.
      const isLater = view.comparison === 'before' && before.until < period.from;
      const [start, opening, span] = isOfYear({ view, firstDay })
        ? [before.until, earlier.summary.mrr, ' in a year']
        : [period.from, movements.opening, isLater ? ` since ${words.day(period.from)}` : ''];
      const growth = closing - opening;
      if (firstDay > start) return { text: `MRR is ${words.about(closing)}.` };
      if (growth === 0) return { lead: 'About the same:', text: `MRR ${words.about(closing)}.` };
      const change = { kind: 'relative', by: growth / opening } as const;
      const share = opening > 0 ? ` (${words.change(figures.mrr, change)})` : ', from nothing';
      return {
        lead: !isChanged({ opening, closing })
          ? 'About the same:'
          : growth > 0
            ? 'Better:'
            : 'Worse:',
        text: `MRR ${growth > 0 ? 'up' : 'down'} ${words.about(Math.abs(growth))}${span}${share}.`,
      };
    },
  },
  {
    explained:
      'Then what explains at least half of that: the kind of change of MRR that differs most from the period compared with, and by how much; and the plan and the interval that have most of the difference. Where nothing does, or MRR changed as much before, or a year is compared, the largest amounts that came and left.',
    say: (judged, words) => driverSentence(judged, words) ?? amountsSentence(judged, words),
  },
  {
    explained:
      'Last, of churn, cancellations, payments that failed, recoveries, saves and new subscribers, the one that changed most beyond chance: one that got worse, if any did. They are seen against their base: twice as many failures among twice as many payments are no news.',
    say: othersSentence,
  },
];

/** Whether the answer is about a year; not if nothing is known of its start. */
const isOfYear = ({ view, firstDay }: Pick<Judged, 'view' | 'firstDay'>) =>
  view.comparison === 'year' && firstDay <= view.before.until;

function driverSentence(judged: Judged, words: Words): Sentence | undefined {
  const { driver, movements, view } = judged;
  if (!driver) return undefined;
  const { movement, from, planName, interval } = driver;
  const growth = movements.closing - movements.opening;
  const to = movements[movement];
  const source = sources[movement];
  const by = to - from;
  const size = `${words.about(Math.abs(by))} ${by > 0 ? 'more' : 'less'}`;
  const share = words.change(figures.mrr, { kind: 'relative', by: by / from });
  const [text, beside] =
    from === 0
      ? [`${words.about(to)} ${source}`, ', nothing before']
      : to === 0
        ? [`nothing ${source}`, `, ${words.about(from)} before`]
        : [`${size} ${source}`, ` (${by > 0 ? '+' : '−'}${share})`];
  const where = [planName && `on ${planName}`, interval && `billed ${words.every(interval)}`]
    .filter((each) => each !== undefined)
    .join(', ');
  const figure = counted[movement];
  const counts = figure && changeOf(figure, judged);
  const mayBeChance = typeof counts === 'object' && counts.significance?.doubt !== undefined;
  return {
    // What rounds to the whole is not more.
    lead: Math.abs(by / growth) > 1.005 ? 'More than all of it:' : 'Most of it:',
    text,
    rest: `${beside}${where && `, mostly ${where}`}${mayBeChance ? '; that may be chance' : ''}.`,
    // Movements are not listed for segments.
    rows: view.segment
      ? figure
      : { name: 'what changed MRR', rows: '/revenue/movements', filter: { movement } },
  };
}

function amountsSentence({ movements, view, firstDay }: Judged, words: Words): Sentence {
  const isGrowing = movements.closing >= movements.opening;
  const largest = [largestOf(inflows, movements), largestOf(outflows, movements)];
  const parts = (isGrowing ? largest : largest.toReversed()).flatMap((name) =>
    movements[name] === 0 ? [] : `${words.about(movements[name])} ${sources[name]}`,
  );
  const lead = isOfYear({ view, firstDay }) ? 'In this period:' : '';
  if (parts.length === 0)
    return { lead, text: lead ? 'nothing came or left.' : 'Nothing came or left.' };
  const rows = view.segment ? undefined : { name: 'what changed MRR', rows: '/revenue' };
  return { lead, text: `${parts.join(', ')}.`, rows };
}

const largestOf = (names: readonly Movement[], values: Movements) =>
  names.reduce((largest, name) => (values[name] > values[largest] ? name : largest));

function othersSentence(judged: Judged, words: Words): Sentence {
  const { view, firstDay, earlier, driver } = judged;
  const gap = gapIn(view.before, firstDay);
  if (gap === 'No earlier data') return { text: 'There is no earlier data to compare with.' };
  if (gap) return { text: `The ${words.beginning(firstDay)}.` };
  const changes = others
    .filter((figure) => driver === undefined || figure !== counted[driver.movement])
    .flatMap((figure) => {
      const change = changeOf(figure, judged);
      if (typeof change !== 'object' || !change.significance) return [];
      const { doubt, deviations } = figure.basis
        ? significanceOfShares(shareOf(figure, earlier), shareOf(figure, judged))
        : change.significance;
      const isUp = valueOf(figure, judged) > valueOf(figure, earlier);
      const isWorse = isUp !== (figure.betterWhen === 'higher');
      return { figure, isUp, isWorse, doubt, deviations };
    });
  const certain = changes.filter(({ doubt }) => doubt === undefined);
  // The churn rate has the cancellations in it.
  const isChurn = certain.some(({ figure }) => figure === figures.churnRate30d);
  const clear = certain.filter(({ figure }) => !isChurn || figure !== figures.cancelled30d);
  const worse = clear.filter(({ isWorse }) => isWorse);
  const [found] = (worse.length > 0 ? worse : clear).toSorted(
    (one, other) => other.deviations - one.deviations,
  );
  if (!found) {
    const isKnown = changes.some(({ doubt }) => doubt === 'No clear change');
    return {
      text: isKnown ? 'No rate changed beyond chance.' : 'Too few cases to judge more.',
    };
  }
  const { figure, isUp } = found;
  const rateOf = (of: Counted) => {
    const { share, of: cases } = shareOf(figure, of);
    return words.value({ format: 'share' }, share, cases);
  };
  const [from, to] = [earlier, judged].map((of) =>
    figure.basis ? rateOf(of) : words.value(figure, of.summary[figure.field]),
  );
  const name = shareNames[figure.field] ?? figure.name;
  return {
    text: `${name} ${isUp ? 'rose' : 'fell'} from ${from} to ${to}.`,
    rows: { ...figure, name: figure.name.toLowerCase() },
  };
}

const valueOf = (figure: Figure, of: Counted) =>
  figure.basis ? shareOf(figure, of).share : of.summary[figure.field];

/** What is too small to be judged, for owners. */
const threshold = `Numbers and rates vary by chance. A change of one counts if chance alone would do as much at most once in twenty times; smaller ones are “no clear change”. Numbers of fewer than ${minCases} in both periods together, and rates of fewer than ${minCases} cases in either, are too few to judge. Sentences, arrows and colours follow this rule alike. Of what holds at the end of the period, what came is compared with what left. Amounts are not left to chance: any change of them counts.`;

/** One to three sentences on a period, none of which is a guess. */
export function verdictOf(judged: Judged, words: Words): Sentence[] {
  if (!canJudge(judged.view)) {
    return [
      { text: `MRR is ${words.about(judged.movements.closing)}.` },
      {
        text: 'Not judged: today’s status or age decides what such a segment gained and lost.',
      },
    ];
  }
  return rules.flatMap(({ say }) => say(judged, words) ?? []);
}

/** A sentence without its link, as for a mail. */
export const textOf = ({ lead = '', text, rest = '' }: Sentence) => `${lead} ${text}${rest}`.trim();

/** The answer in words, with links to what it is about. */
export const verdict = (visit: ShopVisit, judged: Judged): Html =>
  html`${verdictOf(judged, wordsOf(visit)).map((each, index) => {
    const { lead, text, rest, rows } = each;
    if (!rows)
      return index === 0 ? html`<strong>${textOf(each)}</strong> ` : html`${textOf(each)} `;
    const path = viewPath(shopPath(visit.shop, rows.rows), judged.view, rows.filter);
    return html`${lead} <a href="${path}">${text}</a>${rest} `;
  })}`;

export const howMade = html`<details class="how">
  <summary>How this is made</summary>
  <ol>
    ${rules.map(({ explained }) => html`<li>${explained}</li>`)}
  </ol>
  <p>${threshold}</p>
</details>`;
