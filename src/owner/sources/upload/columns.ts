import type { ColumnView } from '../../../mapping/suggest/columns.ts';
import type { Examination } from '../../../push/upload/jobs/examine.ts';
import { type Html, html } from '../../../http/html.ts';
import { plainTable } from '../../ui/table.ts';

/** What columns can be, by the ids of the answers that say it. */
const uses: Readonly<Record<string, string>> = {
  customer: 'Customer',
  subscription: 'Subscription ID',
  plan: 'Plan',
  status: 'Status',
  start: 'Start',
  ended: 'End',
  price: 'Price',
  interval: 'Billing interval',
  units: 'Quantity',
  currency: 'Currency',
  next: 'Next billing date',
  paidThrough: 'Paid through',
  updated: 'Last change',
  trialEnd: 'End of trial',
  id: 'ID',
  name: 'Name',
  payment: 'Payment ID',
  amount: 'Amount',
  date: 'Date',
};

/** What each kind of rows needs one of. */
const needed: Readonly<Record<RowType, readonly (readonly string[])[]>> = {
  subscription: [['customer'], ['status', 'ended'], ['start'], ['price']],
  payment: [['subscription'], ['amount'], ['date']],
  refund: [['payment'], ['amount'], ['date']],
  plan: [['id'], ['interval']],
};
type RowType = NonNullable<Examination['kind']>;

/** What all subscriptions of a file are stored as, if no column says what they need. */
const storedWithout: Readonly<Record<string, string>> = {
  price: 'at price 0, without MRR',
  status: 'as active',
  start: 'as begun on January 1 of last year',
};

/** What the rows need, and no column has, though one could. */
function missingIn({ views, kind = 'subscription' }: Examination) {
  const used = new Set(views.map(({ use }) => use));
  const isAsked = views.some(({ choices }) => choices.length > 0);
  return needed[kind].filter((some) => isAsked && !some.some((use) => used.has(use)));
}

/** What would be stored without a column that it needs; undefined for nothing. */
export function lacksIn(examined: Examination): string | undefined {
  const found = missingIn(examined).flatMap(([use = '']) => storedWithout[use] ?? []);
  if (found.length === 0) return undefined;
  return `All subscriptions would be stored ${new Intl.ListFormat('en').format(found)}: no column was found that says it.`;
}

/** What is unsure about the mapping, without what the page asks, and how to edit the mapping's text. */
export function doubtsOf({ checks }: Examination): string[] {
  return checks
    .filter((text) => !/\. If one \w+: \{|; what (?:does it mean|are they)\?$/.test(text))
    .map((text) => {
      const plain = text
        .replace(/; if it is for .*, use .*$/, '')
        .replace(' (--as-of)', '')
        .replace(/ given "empty", "?(.*?)(?:T00:00:00Z)?"?$/, ' given $1')
        .replaceAll(/"([^"]*)"/g, '“$1”')
        .replace(/^\p{Ll}/u, (first) => first.toUpperCase());
      return /[.?]$/.test(plain) ? plain : `${plain}.`;
    });
}

/** What is taken for which part of a record, where nothing can be chosen. */
const partOf = (role: string) =>
  role
    .replace(/^.*\./, '')
    .replaceAll(/(?=[A-Z])/g, ' ')
    .toLowerCase();

/** Every column of a file, what it is taken for and why, with a select to change that. */
export function columnsPart(examined: Examination): Html {
  const { views, kind = 'subscription' } = examined;
  const missing = missingIn(examined).map((some) => some.map((use) => uses[use]).join(' or '));
  const isNeeded = (use: string) => needed[kind].some((some) => some.includes(use));
  return html`<h2 id="columns-title">Columns</h2>
    ${
      missing.length !== 0 &&
      html`<p class="notice risk" role="status">
        Needed and not found: ${missing.join(', ')}. If a column has it, choose it below.
      </p>`
    }
    <div class="file-columns">
      ${plainTable(
        views.map((view, index) => ({ ...view, index })),
        [
          [html`Column`, ({ name }) => name, 'head'],
          ['First values', samples],
          ['Is our …', (view) => (view.choices.length > 0 ? select(view, isNeeded) : fixed(view))],
          ['Why', why],
        ],
        { look: 'brief', labelledBy: 'columns-title' },
      )}
    </div>`;
}

type Indexed = ColumnView & { readonly index: number };

const samples = ({ samples: texts, hidden }: ColumnView): Html =>
  hidden === undefined
    ? html`${texts.map((text, index) => html`${index > 0 ? ' · ' : ''}<span dir="auto">${text}</span>`)}`
    : html`<span class="quiet">(${hidden})</span>`;

function select({ index, name, use, choices }: Indexed, isNeeded: (use: string) => boolean): Html {
  return html`<select name="c:${index}" aria-label="What “${name}” is">
    <option value="">–</option>
    ${choices.map((choice) => {
      const state = choice === use ? html`selected` : undefined;
      return html`<option value="${choice}" ${state}>
        ${uses[choice] ?? choice}${isNeeded(choice) ? ' (needed)' : ''}
      </option>`;
    })}
  </select>`;
}

const fixed = ({ role }: ColumnView): Html => {
  if (role === undefined) return html`<span class="quiet">–</span>`;
  return html`${role === 'known' ? 'Used' : partOf(role)}`;
};

function why({ name, confidence, evidence, role, use }: ColumnView): Html {
  const text = evidence.replace(`"${name}" by its`, 'By its').replace(' (--as-of)', '');
  const isUsed = role !== undefined || use !== '';
  return html`${confidence === 'check' && isUsed && html`<span class="dot risk">Check</span> `}<span
      class="quiet"
      >${text.replace(/^\p{Ll}/u, (first) => first.toUpperCase())}</span
    >`;
}

/** The columns that a form says are something else than was shown, as answers. */
export function readColumns(views: readonly ColumnView[], form: URLSearchParams) {
  const given = views.map((view, index) => {
    const value = form.get(`c:${index}`) ?? view.use;
    return view.choices.includes(value) || value === '' ? value : view.use;
  });
  const changed = views.flatMap(({ name, use }, index) => {
    const now = given[index] ?? '';
    return now === use ? [] : [{ name, before: use, now }];
  });
  const twice = changed.find(
    ({ now }) => now !== '' && changed.filter((each) => each.now === now).length > 1,
  );
  const answers = new Map<string, string>();
  for (const { before } of changed) if (before !== '') answers.set(before, '');
  for (const { name, now } of changed) if (now !== '') answers.set(now, name);
  return { answers, twice: twice && uses[twice.now] };
}
