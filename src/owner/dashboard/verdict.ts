import { reasonLabels } from '../ui/labels.ts';
import { type Compared, changeOf } from './changes.ts';
import type { Dashboard, Figures } from './dashboard.ts';
import { type Figure, allFigures } from './figures.ts';
import type { Words } from './words.ts';

/** What the verdict is made from. */
export type Judged = Compared & Pick<Dashboard, 'reasons'>;

interface Rule {
  /** For owners; the sentences themselves say only what holds. */
  readonly explained: string;
  say(judged: Judged, words: Words): string | undefined;
}

/** Fewer cases are not judged. */
const minCases = 10;
/** So many times what chance alone would do is a change. */
const minDeviations = 2;

const figure = (field: Figure['field']) =>
  allFigures.find((each) => each.field === field) as Figure;
const churn = figure('churnRate30d');
/** Those that say whether a period was good, apart from churn, which the first sentence is about. */
const candidates = (
  ['failedPayments30d', 'newSubscribers30d', 'recoveryRate', 'saveRate'] as const
).map(figure);

/** What the verdict says, in this order. docs/decisions/0065-the-overview.md */
export const rules: readonly Rule[] = [
  {
    explained:
      'First the churn rate, and how many points it is above or below the one compared with.',
    say: (judged, words) => {
      const change = changeOf(churn, judged);
      if (judged.undefinedFigures.has(churn.field)) return 'No subscriptions to lose.';
      const rate = `Churn ${words.value(churn, judged.summary.churnRate30d)}`;
      if (change === 'No earlier data') return `${rate}. There is no earlier data to compare with.`;
      if (change === undefined || typeof change === 'string') return `${rate}.`;
      if (change.by === 0) return `${rate}, as before.`;
      const deviations = deviationsOf(churn, judged);
      if (deviations === undefined) return `${rate}, of too few subscriptions to judge.`;
      if (deviations < minDeviations) {
        return `${rate}, about as before (${words.value(churn, change.from)}).`;
      }
      return `${rate}, ${change.by > 0 ? 'up' : 'down'} ${words.change(churn, change)}.`;
    },
  },
  {
    explained:
      'Then, of failed payments, new subscribers, recovery rate and save rate, the one that changed most for its size: one that got worse, if any did, else one that got better.',
    say: (judged, words) => {
      const changes = candidates.flatMap((each) => {
        const change = changeOf(each, judged);
        const deviations = deviationsOf(each, judged) ?? 0;
        return typeof change === 'object' && deviations >= minDeviations
          ? [{ figure: each, change, deviations }]
          : [];
      });
      const worse = changes.filter(({ change }) => change.judgement === 'worse');
      const [found] = (worse.length > 0 ? worse : changes).toSorted(
        (one, other) => other.deviations - one.deviations,
      );
      if (!found) {
        const isCompared = candidates.some((each) => typeof changeOf(each, judged) === 'object');
        return isCompared ? 'Nothing else changed more than by chance.' : undefined;
      }
      const { summary } = judged;
      const to = words.value(found.figure, summary[found.figure.field]);
      const from = words.value(found.figure, found.change.from);
      const verb = found.change.by > 0 ? 'rose' : 'fell';
      return `${found.figure.name} ${verb} from ${from} to ${to}.`;
    },
  },
  {
    explained: `Last, the reason that most cancel-flow sessions of the period gave, if at least ${minCases} ended with a reason and no other was given as often.`,
    say: ({ reasons }, words) => {
      const known = reasons
        .filter(({ reason }) => reason !== 'unknown' && reason !== 'other')
        .map(({ reason, saved, cancelled, abandoned }) => ({
          reason,
          count: saved + cancelled + abandoned,
        }))
        .toSorted((one, other) => other.count - one.count);
      const total = known.reduce((sum, { count }) => sum + count, 0);
      const [first, second] = known;
      if (!first || total < minCases || first.count === second?.count) return undefined;
      const count = (value: number) => words.value({ format: 'count' }, value);
      return `“${reasonLabels[first.reason]}” leads the reasons (${count(first.count)} of ${count(total)}).`;
    },
  },
];

/** What is too small to be judged, for owners. */
export const threshold = `A change counts if it is more than ${minDeviations} times what chance alone would do: for counts, the square root of both periods together; for rates, their standard error. Fewer than ${minCases} cases are not judged.`;

/** One to three sentences on a period, none of which is a guess. */
export function verdictOf(judged: Judged, words: Words): string[] {
  return rules.flatMap(({ say }) => say(judged, words) ?? []);
}

const bases: Partial<Record<Figure['field'], keyof Figures['bases']>> = {
  churnRate30d: 'atRisk',
  recoveryRate: 'dunningClosed',
  saveRate: 'sessionsEnded',
};

/** How many times a change is what chance alone would do; undefined if there are too few cases to say. */
function deviationsOf({ field }: Figure, now: Judged): number | undefined {
  const { earlier } = now;
  const [from, to] = [earlier.summary[field], now.summary[field]];
  const basis = bases[field];
  if (basis === undefined) {
    return from + to < minCases ? undefined : Math.abs(to - from) / Math.sqrt(from + to);
  }
  const [before, after] = [earlier.bases[basis], now.bases[basis]];
  if (Math.min(before, after) < minCases) return undefined;
  const share = (from * before + to * after) / (before + after);
  const error = Math.sqrt(share * (1 - share) * (1 / before + 1 / after));
  return to === from ? 0 : Math.abs(to - from) / error;
}
