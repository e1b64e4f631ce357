import { type Doubt, minCases, minDeviations } from '../../metrics/significance.ts';
import { type Html, html } from '../../http/html.ts';
import { figures } from '../../metrics/figures.ts';
import type { ShopVisit } from '../pages.ts';
import { reasonLabels } from '../ui/labels.ts';
import { type Change, type Compared, type Words, changeOf, wordsOf } from './changes.ts';
import type { ReasonRow } from '../../metrics/cancel-flow.ts';

/** What the verdict is made from. */
export type Judged = Compared & { readonly reasons: readonly ReasonRow[] };

interface Rule {
  /** For owners; the sentences themselves say only what holds. */
  readonly explained: string;
  say(judged: Judged, words: Words): string | undefined;
}

const churn = figures.churnRate30d;
/** Those that say whether a period was good, apart from churn, which the first sentence is about. */
const candidates = [
  figures.failedPayments30d,
  figures.newSubscribers30d,
  figures.recoveryRate,
  figures.saveRate,
];

/** What the verdict says, in this order. docs/decisions/0022-significance.md */
const rules: readonly Rule[] = [
  {
    explained:
      'First the churn rate, and how many points it is above or below the one compared with.',
    say: (judged, words) => {
      const change = changeOf(churn, judged);
      if (judged.undefinedFigures.has(churn.field)) return 'No subscriptions to lose.';
      const rate = `Churn ${words.value(churn, judged.summary.churnRate30d)}`;
      if (change === 'No earlier data') return `${rate}. There is no earlier data to compare with.`;
      if (change === 'Earlier data incomplete') {
        return `${rate}. The ${words.beginning(judged.firstDay)}.`;
      }
      if (change === undefined || typeof change === 'string') return `${rate}.`;
      if (change.by === 0) return `${rate}, as before.`;
      const doubt = change.significance?.doubt;
      if (doubt !== undefined) return `${rate}${explainDoubt(doubt, judged, words)}`;
      return `${rate}, ${change.by > 0 ? 'up' : 'down'} ${words.change(churn, change)}.`;
    },
  },
  {
    explained:
      'Then, of failed payments, new subscribers, recovery rate and save rate, the one that changed most for its size: one that got worse, if any did, else one that got better.',
    say: (judged, words) => {
      const changes = candidates.flatMap((each) => {
        const change = changeOf(each, judged);
        return typeof change === 'object' && change.judgement ? [{ figure: each, change }] : [];
      });
      const worse = changes.filter(({ change }) => change.judgement === 'worse');
      const [found] = (worse.length > 0 ? worse : changes).toSorted(
        (one, other) => sizeOf(other.change) - sizeOf(one.change),
      );
      if (!found) {
        const isCompared = candidates.some((each) => typeof changeOf(each, judged) === 'object');
        return isCompared ? 'Nothing else changed beyond chance.' : undefined;
      }
      const { summary } = judged;
      const to = words.value(found.figure, summary[found.figure.field]);
      const from = words.value(found.figure, found.change.from);
      const verb = found.change.by > 0 ? 'rose' : 'fell';
      return `${found.figure.name} ${verb} from ${from} to ${to}.`;
    },
  },
  {
    explained: `Last, the reason that most of the cancel-flow sessions of the period gave that have ended, apart from “Other” and “Unknown”, and of how many sessions. At least ${minCases} must have given such a reason, and no other as often.`,
    say: ({ reasons }, words) => {
      const counts = reasons.map(({ reason, saved, cancelled, abandoned }) => ({
        reason,
        count: saved + cancelled + abandoned,
      }));
      const named = counts
        .filter(({ reason }) => reason !== 'unknown' && reason !== 'other')
        .toSorted((one, other) => other.count - one.count);
      const [first, second] = named;
      if (!first || totalOf(named) < minCases || first.count === second?.count) return undefined;
      const count = (value: number) => words.value({ format: 'count' }, value);
      const share = `${count(first.count)} of ${count(totalOf(counts))}`;
      return `“${reasonLabels[first.reason]}” leads the named reasons (${share}).`;
    },
  },
];

const totalOf = (counts: readonly Readonly<Record<'count', number>>[]) =>
  counts.reduce((sum, { count }) => sum + count, 0);

const sizeOf = ({ significance }: Change) => significance?.deviations ?? 0;

/** What follows the churn rate if it cannot be said to have changed. */
function explainDoubt(doubt: Doubt, { bases, earlier }: Judged, words: Words): string {
  const count = (value: number) => words.value({ format: 'count' }, value);
  const [before, now] = [earlier.bases.atRisk, bases.atRisk].map(count);
  const texts: Readonly<Record<Doubt, string>> = {
    'No clear change': `, no clear change (${words.value(churn, earlier.summary[churn.field])} before).`,
    'Too few now': `, of only ${now} subscriptions: too few to judge.`,
    'Too few before': `. Only ${before} subscriptions before: too few to compare with.`,
    'Too few to judge': `, of only ${now} subscriptions, and ${before} before: too few to judge.`,
  };
  return texts[doubt];
}

/** What is too small to be judged, for owners. */
const threshold = `A change of a rate, or of the number of events in the period, counts if it is at least ${minDeviations} times what chance alone would do: for numbers, the square root of both periods together; for rates, their standard error. Smaller ones are “no clear change”. Numbers of fewer than ${minCases} in both periods together, and rates of fewer than ${minCases} cases in either, are too few to judge. Sentences, arrows and colours follow this rule alike. Amounts, and what holds at the end of the period, are not left to chance: any change of them counts.`;

/** One to three sentences on a period, none of which is a guess. */
export function verdictOf(judged: Judged, words: Words): string[] {
  return rules.flatMap(({ say }) => say(judged, words) ?? []);
}

/** The answer in words. */
export const verdict = (visit: ShopVisit, judged: Judged): Html =>
  html`${verdictOf(judged, wordsOf(visit)).map((each, index) => html`${index === 0 ? html`<strong>${each}</strong>` : each} `)}`;

export const howMade = html`<details class="how">
  <summary>How this is made</summary>
  <ol>
    ${rules.map(({ explained }) => html`<li>${explained}</li>`)}
  </ol>
  <p>${threshold}</p>
</details>`;
