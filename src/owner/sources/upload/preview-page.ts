import type { Examination } from '../../../push/upload/jobs/examine.ts';
import type { UploadView } from '../../../push/upload/uploads.ts';
import type { Answer } from '../../../http/answer.ts';
import { type Html, html } from '../../../http/html.ts';
import { type Keeper, warningOf } from '../../../platforms/keeper.ts';
import type { ShopVisit } from '../../pages.ts';
import { alert, notice, token } from '../../ui/layout.ts';
import { formatBytes, formatCount } from '../../ui/locale.ts';
import { removeForm, uploadPage, uploadPath } from './parts.ts';
import { previewPart } from './preview-part.ts';

export interface Previewed {
  readonly upload: UploadView;
  readonly examined: Examination;
  /** The platform that keeps the shop up. */
  readonly keeper: Keeper | undefined;
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
            The file does not say when subscriptions were cancelled, so each cancellation counts on
            the day on which it is first seen.
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
  return uploadPage(visit, { title: 'Check before importing', content, status });
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
      selectField({ id: `question-${index}`, name: `q:${id}`, label, choices, chosen }),
    ),
    ...(needsAsOf ? [asOfField(parts)] : []),
  ];
  const takeOver = takeOverField(visit, parts);
  const hidden = html`${token(visit)}
    <input type="hidden" name="upload" value="${upload.uploadId}" />`;
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

interface SelectField {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly chosen: string;
}

function selectField({ id, name, label, choices, chosen }: SelectField): Html {
  return html`<p class="field">
    <label for="${id}">${label}</label>
    <select id="${id}" name="${name}">
      ${choices.map(
        (choice) =>
          html`<option
            value="${choice.value}"
            ${choice.value === chosen ? html`selected` : undefined}
          >
            ${choice.label}
          </option>`,
      )}
    </select>
  </p>`;
}

function asOfField({ upload, now }: Previewed): Html {
  const day = dayOf(upload.answers.asOf ?? now);
  return html`<p class="field">
    <label for="as-of">When was the file exported?</label>
    <input
      id="as-of"
      name="as-of"
      type="date"
      required
      max="${dayOf(now)}"
      value="${day}"
      aria-describedby="as-of-hint"
    />
    <span class="hint" id="as-of-hint">Times in the file count back from this day.</span>
  </p>`;
}

/** @param at epoch milliseconds */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Asks whether to import what a platform keeps up; undefined if the file has nothing of that. */
function takeOverField(
  visit: ShopVisit,
  { upload, examined, keeper }: Previewed,
): Html | undefined {
  const { preview } = examined;
  if (!keeper || 'problem' in preview) return undefined;
  const { platform, account } = keeper;
  const kept = platform.authoritativeFor.reduce(
    (sum, type) => sum + (preview.counts[type] ?? 0),
    0,
  );
  if (kept === 0) return undefined;
  const types = new Intl.ListFormat('en').format(
    platform.authoritativeFor.map((type) => `${type}s`),
  );
  return html`<h2>This shop is connected to ${platform.title}</h2>
    <p>
      Its ${types} come from ${account}.
      ${preview.isWhole ? '' : 'At least '}${formatCount(visit, kept)}
      ${kept === 1 ? 'record' : 'records'} of these types in the file will be refused, unless you
      import them anyway.
    </p>
    <label class="choice">
      <input
        type="checkbox"
        name="take-over"
        value="yes"
        ${upload.answers.takesOver ? html`checked` : undefined}
        aria-describedby="take-over-hint"
      />
      <span>Import them anyway</span>
    </label>
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
