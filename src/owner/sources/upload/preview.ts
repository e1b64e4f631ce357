import type { Examination } from '../../../push/upload/jobs/examine.ts';
import type { UploadView } from '../../../push/upload/uploads.ts';
import type { Answer } from '../../../http/answer.ts';
import { type Html, type HtmlValue, html } from '../../../http/html.ts';
import { type Keeper, namesOf, warningOf } from '../../../platforms/keeper.ts';
import type { ShopVisit } from '../../pages.ts';
import { countOf, formatBytes, formatCount, formatMoney } from '../../ui/formats.ts';
import { removeForm, uploadPath } from './choose.ts';
import type { ImportRecord } from '../../../records/records.ts';
import type { Preview } from '../../../mapping/suggest/preview.ts';
import { alert, notice } from '../../ui/elements.ts';
import { choiceField, hiddenFields, inputField, selectField, token } from '../../ui/fields.ts';
import { type TableColumn, plainTable } from '../../ui/table.ts';
import { isoDay } from '../../view/view.ts';
import { page } from '../../ui/page.ts';

export interface Previewed {
  readonly upload: UploadView;
  readonly examined: Examination;
  /** The platform that keeps the shop up. */
  readonly keepers: readonly Keeper[];
  /** Epoch milliseconds. */
  readonly now: number;
  readonly problem?: string | undefined;
  readonly notice?: string | undefined;
}

const formId = 'answers';

/** What an import would give, and what only the owner knows. Nothing is stored yet. */
export function previewPage(visit: ShopVisit, parts: Previewed): Answer {
  const { upload, examined, problem } = parts;
  const { preview } = examined;
  const canImport = !('problem' in preview);
  const content = html`${alert(problem)} ${notice(parts.notice)}
    <section class="card" aria-labelledby="file-title">
      <h2 id="file-title">${upload.fileName}</h2>
      <dl class="details">
        <dt>Size</dt>
        <dd>${formatBytes(visit, upload.bytes)}</dd>
        <dt>Read as</dt>
        <dd>${describeInput(examined)}</dd>
        ${
          examined.mapping === undefined
            ? undefined
            : html`<dt>Amounts</dt>
                <dd>${describeCurrency(examined, visit.shop.currency)}</dd>`
        }
      </dl>
    </section>
    ${answersForm(visit, parts)} ${canImport ? previewPart(visit, preview) : alert(preview.problem)}
    ${
      examined.lacksEndDates
        ? html`<p class="quiet">
            The file does not say when subscriptions were cancelled. A cancellation counts on the
            day of the first file that has it. If no earlier file has the subscription as active, it
            is left out of the figures of periods.
          </p>`
        : undefined
    }
    <div class="actions">
      ${
        canImport
          ? html`<button form="${formId}" name="action" value="import">Import</button>`
          : undefined
      }
      ${removeForm(visit, upload)}
    </div>
    ${developerPart(examined)}`;
  const status = problem === undefined ? 200 : 422;
  return page(visit, { title: 'Check before importing', content, status });
}

const delimiters: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
};

function describeInput({ known, mapping, input }: Examination): string {
  if (mapping === undefined) return 'Import records';
  if (known !== undefined) return known;
  return input.format === 'csv'
    ? `A table, separated by ${delimiters[input.delimiter] ?? input.delimiter}`
    : 'A JSON list';
}

function describeCurrency({ foreign }: Examination, currency: string): string {
  if (foreign === undefined) {
    return `In ${currency}, the shop’s currency: the file names none. If they are in another, convert them before you upload the file.`;
  }
  if (foreign.length === 0) return `In ${currency}`;
  const others = new Intl.ListFormat('en', { type: 'disjunction' }).format(foreign.slice(0, 5));
  return `In ${currency}, the shop’s currency. Rows with amounts in ${others} are refused: convert those before you upload the file.`;
}

function answersForm(visit: ShopVisit, parts: Previewed): Html {
  const { upload, examined } = parts;
  const { questions, needsAsOf } = examined;
  const fields = [
    ...questions.map(({ id, label, choices, chosen }, index) =>
      selectField({
        id: `question-${index}`,
        name: `q:${id}`,
        label,
        selected: chosen,
        options: choices.map((each) => [each.value, each.label]),
      }),
    ),
    ...(needsAsOf ? [asOfField(parts)] : []),
  ];
  const takeOver = takeOverField(visit, parts);
  const hidden = html`${token(visit)} ${hiddenFields([['upload', upload.uploadId]])}`;
  const form = html`method="post" action="${uploadPath(visit, '/answers')}" id="${formId}"`;
  if (fields.length === 0 && !takeOver) return html`<form ${form}>${hidden}</form>`;
  return html`<form class="card" ${form}>
    ${hidden}
    ${
      fields.length === 0
        ? undefined
        : html`<h2>${fields.length === 1 ? 'One question' : `${fields.length} questions`}</h2>
            <p>The file does not say this for certain. Correct what was guessed wrong.</p>
            ${fields}
            <p><button class="plain" name="action" value="preview">Update preview</button></p>`
    }
    ${takeOver}
  </form>`;
}

function asOfField({ upload, now }: Previewed): Html {
  const day = isoDay(upload.answers.asOf ?? now);
  return inputField(
    {
      id: 'as-of',
      label: 'When was the file exported?',
      hint: 'Times in the file count back from this day.',
      value: day,
    },
    html`type="date" required max="${isoDay(now)}"`,
  );
}

/** Asks whether to import what a platform keeps up; undefined if the file has nothing of that. */
function takeOverField(
  visit: ShopVisit,
  { upload, examined, keepers }: Previewed,
): Html | undefined {
  const { preview } = examined;
  if ('problem' in preview) return undefined;
  const countKept = ({ types }: Keeper) =>
    types.reduce((sum, type) => sum + (preview.counts[type] ?? 0), 0);
  const keeper = keepers.find((each) => countKept(each) > 0);
  if (!keeper) return undefined;
  const { platform, account } = keeper;
  const kept = countKept(keeper);
  return html`<h2>This shop is connected to ${platform.title}</h2>
    <p>
      Its ${namesOf(keeper.types)} come from ${account}.
      ${preview.isWhole ? '' : 'At least '}${countOf(visit, kept, 'record')} of these types in the
      file will be refused, unless you import them anyway.
    </p>
    ${choiceField(
      html`type="checkbox" name="take-over" value="yes" aria-describedby="take-over-hint"
      ${upload.answers.takesOver ? html`checked` : undefined}`,
      'Import them anyway',
    )}
    <p class="quiet" id="take-over-hint">${warningOf(keeper)}</p>`;
}

function developerPart({ mapping, known }: Examination): Html | undefined {
  if (mapping === undefined) return undefined;
  return html`<details>
    <summary>For your developer</summary>
    <p class="quiet">
      The mapping that ${known === undefined ? 'was made for' : 'recognised'} this file. On the
      command line, an edited copy of it works with <code>retention import --mapping</code>.
    </p>
    <pre tabindex="0" aria-label="Mapping"><code>${mapping}</code></pre>
  </details>`;
}

const shownReasons = 10;

/** What an import would give: figures, what would be refused, and the first records. */
function previewPart(visit: ShopVisit, preview: Preview): Html {
  const { refused, refusedRows, isWhole } = preview;
  const count = (number: number) => formatCount(visit, number);
  return html`<section class="preview" aria-labelledby="preview-title">
    <h2 id="preview-title">What would be stored</h2>
    <p>${isWhole ? 'The file has' : 'The beginning of the file has'} ${figures(visit, preview)}</p>
    ${
      refusedRows === 0
        ? html`<p>
            ${isWhole ? 'No line would be refused.' : 'Nothing of that would be refused.'}
          </p>`
        : html`<p>
              <strong>${countOf(visit, refusedRows, 'record')} would be refused:</strong>
            </p>
            <ul>
              ${refused.slice(0, shownReasons).map(
                ({ rows, line, reason }) =>
                  html`<li>
                    ${reason}
                    <span class="quiet"
                      >(${rows === 1 ? '' : `${count(rows)}, the first in `}line
                      ${count(line)})</span
                    >
                  </li>`,
              )}
            </ul>`
    }
    ${firstRecords(preview)}
  </section>`;
}

const plural: Readonly<Record<string, string>> = {
  plan: 'plans',
  subscription: 'subscriptions',
  payment: 'payments',
  refund: 'refunds',
  cancellation: 'cancel-flow sessions',
  delete: 'deletions',
};

/** Such as "7,000 subscriptions of 6,900 customers on 3 plans: 5,000 active, 2,000 cancelled". */
function figures(visit: ShopVisit, preview: Preview): Html {
  const { subscriptions, customers, plans, statuses, mrr, counts, skipped } = preview;
  const show = (number: number, type: string) => {
    const noun = plural[type] ?? type;
    return `${formatCount(visit, number)} ${number === 1 ? noun.replace(/s$/, '') : noun}`;
  };
  const others = Object.entries(counts)
    .filter(([type]) => !['plan', 'subscription'].includes(type))
    .map(([type, number]) => show(number, type));
  const byStatus = Object.entries(statuses).map(
    ([status, number]) => `${formatCount(visit, number)} ${status}`,
  );
  const own =
    subscriptions === 0
      ? plans > 0 || others.length === 0
        ? [show(plans, 'plan')]
        : []
      : [
          `${show(subscriptions, 'subscription')} of ${show(customers, 'customers')} on ${show(plans, 'plan')}`,
        ];
  const list = new Intl.ListFormat('en').format([...own, ...others]);
  return html`${list}${byStatus.length === 0 ? '' : `: ${byStatus.join(', ')}`}.
  ${
    subscriptions === 0
      ? undefined
      : html`MRR would be <strong>${formatMoney(visit, mrr)}</strong>.`
  }
  ${
    skipped === 0
      ? undefined
      : `${countOf(visit, skipped, 'row is', 'rows are')} left out, such as drafts.`
  }`;
}

type First = Preview['first'][number];
type Other = Preview['others'][number];

const dash = html`<span class="quiet">–</span>`;
const day = (at: number | null | undefined) => (typeof at === 'number' ? isoDay(at) : dash);

const subscriptionColumns: readonly TableColumn<First>[] = [
  ['Line', ({ line }) => line],
  ['Subscription', ({ id }) => id || dash],
  ['Status', ({ status }) => status],
  ['Since', ({ createdAt }) => createdAt],
  ['Ended', ({ endedAt }) => endedAt || dash],
  ['Price', ({ price }) => price],
  ['Every', ({ interval }) => interval],
  ['Plan', ({ plan }) => plan || dash],
];

const otherColumns: readonly TableColumn<Other>[] = [
  ['Line', ({ line }) => line],
  ['Type', ({ record }) => record.type],
  ['ID', ({ record }) => String(record.id)],
  ['What', ({ record }) => what(record) || dash],
  ['When', ({ record }) => when(record)],
  [
    'Amount',
    ({ record }) =>
      record.type === 'payment' || record.type === 'refund' ? String(record.amount) : dash,
  ],
];

function what(record: ImportRecord): string {
  switch (record.type) {
    case 'plan':
      return record.name;
    case 'subscription':
    case 'payment':
      return record.status;
    case 'cancellation':
      return record.outcome ?? record.detectedReason ?? '';
    case 'delete':
      return record.record;
    case 'refund':
      return '';
  }
}

function when(record: ImportRecord): HtmlValue {
  switch (record.type) {
    case 'subscription':
    case 'cancellation':
      return day(record.createdAt);
    case 'payment':
      return day(record.processedAt);
    case 'refund':
      return day(record.refundedAt);
    case 'plan':
    case 'delete':
      return dash;
  }
}

function firstRecords({ first, others }: Preview): Html | undefined {
  const around = { look: 'brief', labelledBy: 'first-title' } as const;
  if (first.length > 0) {
    return html`<h3 id="first-title">The first subscriptions</h3>
      ${plainTable(first, subscriptionColumns, around)}`;
  }
  if (others.length === 0) return undefined;
  return html`<h3 id="first-title">The first records</h3>
    ${plainTable(others, otherColumns, around)}`;
}
