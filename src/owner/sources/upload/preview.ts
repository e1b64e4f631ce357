import type { Examination } from '../../../push/upload/jobs/examine.ts';
import type { UploadView } from '../../../push/upload/uploads.ts';
import type { Answer } from '../../../http/answer.ts';
import { type Html, html } from '../../../http/html.ts';
import { type Keeper, namesOf, warningOf } from '../../../platforms/keeper.ts';
import type { ShopVisit } from '../../pages.ts';
import { countOf, formatBytes, formatCount, formatMoney } from '../../ui/formats.ts';
import { removeForm, uploadForm, uploadPath } from './stages.ts';
import { columnsPart, doubtsOf, lacksIn } from './columns.ts';
import {
  rehearsalPart,
  refusedOf,
  takenOf,
  typeNames,
  firstRecords,
  refusalsOf,
  refusalsPart,
} from './tables.ts';
import type { Rehearsal } from '../../../push/upload/rehearsals.ts';
import type { Preview } from '../../../mapping/suggest/preview.ts';
import { alert, notice } from '../../ui/elements.ts';
import { choiceField, hiddenFields, inputField, selectField, token } from '../../ui/fields.ts';
import { isoDay } from '../../view/view.ts';
import { page } from '../../ui/page.ts';

export interface Previewed {
  readonly upload: UploadView;
  readonly examined: Examination;
  /** The platforms that keep the shop up. */
  readonly keepers: readonly Keeper[];
  readonly rehearsal: Rehearsal;
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
  const { isBlocked } = outlook(parts);
  const content = html`${notice(parts.notice)}
    <section class="card" aria-labelledby="file-title">
      <h2 id="file-title">${upload.fileName}</h2>
      <dl class="details">
        <dt>Size</dt>
        <dd>${formatBytes(visit, upload.bytes)}</dd>
        <dt>Read as</dt>
        <dd>${describeInput(examined)}</dd>
        ${
          examined.mapping !== undefined &&
          html`<dt>Amounts</dt>
            <dd>${describeCurrency(examined, visit.shop.currency)}</dd>`
        }
      </dl>
      ${upload.answers.isRemembered && rememberedPart(visit, upload)}
    </section>
    ${answersForm(visit, parts)}
    ${'problem' in preview ? alert(preview.problem) : previewPart(visit, parts, preview)}
    <div class="actions">
      ${!isBlocked && html`<button form="${formId}" name="action" value="import">Import</button>`}
      ${removeForm(visit, upload)}
    </div>
    ${'problem' in preview ? undefined : firstRecords(preview)} ${developerPart(examined)}`;
  return page(visit, { title: 'Check before importing', content, problem });
}

/** How many records would be refused, and whether nothing else would come of the file. */
function outlook({ examined, rehearsal }: Previewed) {
  const { preview, kind, mapping } = examined;
  if ('problem' in preview) return { refused: 0, isBlocked: true };
  if (rehearsal.kind === 'done') {
    const refused = refusedOf(rehearsal.counts);
    // The plans of subscriptions aside.
    const { plan, ...others } = rehearsal.counts;
    const counts = plan && Object.keys(others).length === 0 ? { plan } : others;
    return { refused, isBlocked: refused > 0 && takenOf(counts) === 0 };
  }
  const { refusedRows: refused, counts } = preview;
  const countsPlans = kind === 'plan' || mapping === undefined;
  const taken = Object.entries(counts).filter(([type]) => countsPlans || type !== 'plan');
  return { refused, isBlocked: refused > 0 && taken.length === 0 };
}

function rememberedPart(visit: ShopVisit, upload: UploadView): Html {
  return uploadForm(
    visit,
    upload,
    '/forget',
    html`<p>
      The columns are taken as you said last time for a file with the same columns.
      <button class="plain">Forget that</button>
    </p>`,
  );
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
  return `In ${currency}, the shop’s currency. Amounts in ${others} do not count: such a subscription is stored at price 0, or its row is refused. Convert them before you upload the file.`;
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
  const columns = examined.views.length === 0 ? undefined : columnsPart(examined);
  const canChange =
    fields.length > 0 || takeOver || examined.views.some(({ choices }) => choices.length > 0);
  if (!canChange && !columns) return html`<form ${form}>${hidden}</form>`;
  return html`<form class="card" ${form}>
    ${hidden} ${columns}
    ${
      fields.length !== 0 &&
      html`<h2>${fields.length === 1 ? 'One question' : `${fields.length} questions`}</h2>
        <p>The file does not say this for certain. Correct what was guessed wrong.</p>
        ${fields}`
    }
    ${takeOver}
    ${
      canChange &&
      html`<p><button class="plain" name="action" value="preview">Update preview</button></p>`
    }
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
      ${upload.answers.takesOver && html`checked`}`,
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

/** What an import would give: records, what would be refused, and figures. */
function previewPart(visit: ShopVisit, parts: Previewed, preview: Preview): Html {
  const { examined, rehearsal } = parts;
  const { refused, isBlocked } = outlook(parts);
  const risks = [
    refused > 0 && `${countOf(visit, refused, 'record')} will be refused; the others are imported.`,
    lacksIn(examined),
  ].filter(Boolean);
  const doubts = doubtsOf(examined);
  return html`<section class="preview" aria-labelledby="preview-title">
      <h2 id="preview-title">What would be stored</h2>
      <p>
        ${preview.isWhole ? 'The file has' : 'The beginning of the file has'}
        ${figures(visit, preview)}
        ${refused === 0 && `Nothing${preview.isWhole ? '' : ' of that'} would be refused.`}
      </p>
      ${
        examined.lacksEndDates &&
        html`<p class="quiet">
          The file does not say when subscriptions were cancelled. A cancellation counts on the day
          of the first file that has it. If no earlier file has the subscription as active, it is
          left out of the figures of periods.
        </p>`
      }
      ${refusalsPart(
        visit,
        rehearsal.kind === 'done' ? rehearsal.refused : refusalsOf(preview),
        refused,
        'would be',
      )}
    </section>
    ${
      !isBlocked &&
      rehearsalPart(visit, rehearsal, {
        what: 'import',
        path: uploadPath(visit),
        none: html`<p class="quiet">
          The file or the shop is too large to rehearse the whole import, so the figures are known
          only afterwards.
        </p>`,
      })
    }
    ${
      isBlocked
        ? html`<p class="alert" role="alert">
            All rows would be refused, so there is nothing to import yet. Correct what the columns
            are, or the file.
          </p>`
        : risks.length + doubts.length > 0
          ? html`<div class="notice risk" role="status">
              ${risks.length > 0 && html`<p>${risks.join(' ')}</p>`}
              ${
                doubts.length > 0 &&
                html`<p>Check before you import:</p>
                  <ul>
                    ${doubts.map((doubt) => html`<li>${doubt}</li>`)}
                  </ul>`
              }
            </div>`
          : undefined
    }`;
}

/** Such as "7,000 subscriptions of 6,900 customers on 3 plans: 5,000 active, 2,000 cancelled". */
function figures(visit: ShopVisit, preview: Preview): Html {
  const { subscriptions, customers, plans, statuses, mrr, counts, skipped } = preview;
  const show = (number: number, type: string) =>
    countOf(visit, number, (typeNames[type] ?? type).toLowerCase().replace(/s$/, ''));
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
          `${show(subscriptions, 'subscription')} of ${show(customers, 'customer')} on ${show(plans, 'plan')}`,
        ];
  const list = new Intl.ListFormat('en').format([...own, ...others]);
  return html`${list}${byStatus.length === 0 ? '' : `: ${byStatus.join(', ')}`}.
  ${subscriptions !== 0 && html`MRR would be <strong>${formatMoney(visit, mrr)}</strong>.`}
  ${skipped !== 0 && `${countOf(visit, skipped, 'row is', 'rows are')} left out, such as drafts.`}`;
}
