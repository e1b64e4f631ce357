import type { Answer } from '../../../http/answer.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ShopVisit } from '../../pages.ts';
import { page } from '../../ui/page.ts';
import {
  formatBytes,
  countOf,
  formatCount,
  localeOf,
  numberFormat,
  showTime,
} from '../../ui/formats.ts';
import type { UploadView } from '../../../push/upload/uploads.ts';
import type { UploadState } from '../../../store/push/uploads.ts';
import { shopPath } from '../../site.ts';
import { actions, hiddenFields, inputField, token } from '../../ui/fields.ts';
import { keptLines } from '../../../push/upload/refusals.ts';
import { csvLine } from '../../framework/csv.ts';
import {
  countsTable,
  figuresTable,
  refusedOf,
  takenOf,
  groupsTable,
  refusalsPart,
} from './tables.ts';
import { undatedNote } from '../sources.ts';
import { alert, notice } from '../../ui/elements.ts';

/** Where an owner chooses a file. @param problem why the last one was not taken */
export function choosePage(
  visit: ShopVisit,
  maxBytes: number,
  problem: string | undefined,
  status: number,
): Answer {
  const content = html`<form
      class="card"
      method="post"
      action="${uploadPath(visit)}"
      enctype="multipart/form-data"
    >
      ${token(visit)}
      <p>
        Choose a file with your subscriptions: an export of your billing system, or a table from a
        spreadsheet. You see what it would give before anything is stored.
      </p>
      ${inputField(
        {
          id: 'file',
          label: 'File',
          hint: `CSV or JSON, up to ${formatBytes(visit, maxBytes)}. Save a workbook as CSV first.`,
        },
        html`type="file" accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,.gz" required`,
      )}
      ${actions(html`<button>Upload and check</button>`, shopPath(visit.shop, '/sources'))}
    </form>
    <details>
      <summary>For your developer</summary>
      <p class="quiet">
        A file of <strong>import records</strong> (NDJSON, one JSON object a line) is imported as it
        is; names that end in <code>.gz</code> are unpacked. The file is deleted as soon as it was
        imported, or after an hour without an answer. The same on the command line:
        <code>retention import</code> and <code>retention mapping suggest</code>.
      </p>
    </details>`;
  return page(visit, { title: 'Import a file', content, problem, status });
}

export const uploadPath = ({ shop }: Pick<ShopVisit, 'shop'>, rest = '') =>
  shopPath(shop, `/sources/file${rest}`);

export const uploadForm = (
  visit: ShopVisit,
  { uploadId }: UploadView,
  action: string,
  content: Html,
) =>
  html`<form method="post" action="${uploadPath(visit, action)}">
    ${token(visit)} ${hiddenFields([['upload', uploadId]])} ${content}
  </form>`;

export const removeForm = (visit: ShopVisit, upload: UploadView, label = 'Remove file') =>
  uploadForm(visit, upload, '/cancel', html`<button class="plain">${label}</button>`);

const states: Readonly<
  Record<UploadState, { readonly dot: string; readonly word: string; readonly link: string }>
> = {
  waiting: { dot: 'risk', word: 'Waiting for you', link: 'Check it' },
  running: { dot: '', word: 'Importing', link: 'See how far it is' },
  stopping: { dot: '', word: 'Stopping', link: 'See how far it is' },
  done: { dot: 'kept', word: 'Imported', link: 'See the result' },
  failed: { dot: 'lost', word: 'Failed', link: 'See why' },
  stopped: { dot: '', word: 'Stopped', link: 'See the result' },
  interrupted: { dot: 'risk', word: 'Interrupted', link: 'Continue' },
};

/** The way in for a file, and the file that is on its way. */
export function uploadSection(visit: ShopVisit, upload: UploadView | undefined): Html {
  const found = upload && (upload.state !== 'waiting' || upload.hasFile) ? upload : undefined;
  const state = found && states[found.state];
  const isBusy = found?.state === 'running' || found?.state === 'stopping';
  return html`<section class="card source" id="file" aria-labelledby="file-title">
    <h2 id="file-title">
      A file ${state && html`<span class="dot ${state.dot}">${state.word}</span>`}
    </h2>
    <p>
      Upload an export of your billing system, or a table of your subscriptions. You see what it
      gives before anything is stored.
    </p>
    ${found && html`<p>${found.fileName}: <a href="${uploadPath(visit)}">${state?.link}</a></p>`}
    ${
      !isBusy &&
      html`<p class="actions">
        <a class="button" href="${uploadPath(visit, '/new')}">Import a file</a>
      </p>`
    }
  </section>`;
}

const wholePercent = (visit: ShopVisit) =>
  numberFormat(localeOf(visit), { style: 'percent', maximumFractionDigits: 0 });

/** How far a running import is. */
export function progressPage(visit: ShopVisit, upload: UploadView): Answer {
  const { fileName, percent, state } = upload;
  const isStopping = state === 'stopping';
  const content = html`<section class="card" data-refresh>
    <h2>${fileName}</h2>
    <p role="status">
      ${isStopping ? 'Stopping. ' : ''}${wholePercent(visit).format(percent / 100)} of the file has
      been read, ${recordsOf(visit, upload)} imported so far.
      <a href="${uploadPath(visit)}">Refresh</a>
    </p>
    <progress max="100" value="${percent}" aria-label="Share of the file that was read"></progress>
    ${
      !isStopping &&
      html`<p class="quiet">You can leave this page; the import goes on.</p>
        ${removeForm(visit, upload, 'Stop import')}`
    }
  </section>`;
  return page(visit, { title: 'Importing', content });
}

const titles = {
  done: 'Imported',
  failed: 'Import failed',
  stopped: 'Import stopped',
  interrupted: 'Import interrupted',
} as const;

type Ended = UploadView & { readonly state: keyof typeof titles };

export function hasEnded(upload: UploadView): upload is Ended {
  return upload.state in titles;
}

/**
 * What became of a file.
 * @param undated subscriptions of the shop with a status since an unknown time
 */
export function resultPage(visit: ShopVisit, upload: Ended, undated: number): Answer {
  const { state, fileName, finishedAt, skipped, counts } = upload;
  const content = html`${message(visit, upload)}
    <section>
      <h2>${fileName}</h2>
      ${finishedAt ? html`<p class="quiet">${showTime(visit, finishedAt)}</p>` : undefined}
      ${
        Object.keys(counts).length === 0
          ? html`<p>
              ${state === 'done' ? 'The file had no records.' : 'No records were imported.'}
            </p>`
          : countsTable(visit, counts, 'What became of the records')
      }
      ${
        skipped !== 0 &&
        html`<p class="quiet">
          ${countOf(visit, skipped, 'row was', 'rows were')} left out, such as drafts.
        </p>`
      }
      ${undatedNote(visit, undated)}
    </section>
    ${
      upload.figures &&
      html`<section>
        <h2>What changed in the figures</h2>
        ${figuresTable(visit, upload.figures, 'Figures before and after the import')}
      </section>`
    }
    ${refusals(visit, upload)} ${warnings(visit, upload)} ${nextSteps(visit, upload)}`;
  return page(visit, { title: titles[state], content });
}

function message(visit: ShopVisit, upload: Ended): Html | undefined {
  const { state, problem } = upload;
  const done = `${recordsOf(visit, upload)} imported, the others are not.`;
  switch (state) {
    case 'done':
      return notice('The file was imported, and deleted from the server.');
    case 'stopped':
      return notice(`You stopped the import: ${done} The file was deleted from the server.`);
    case 'failed':
      return alert(`${problem ?? ''} ${done}`);
    case 'interrupted':
      return alert(
        `The server was restarted in the middle: ${done} ${
          upload.hasFile
            ? 'Continue: what is stored already stays as it is.'
            : 'Choose the file again: what is stored already stays as it is.'
        }`,
      );
  }
}

function nextSteps(visit: ShopVisit, upload: Ended): Html {
  const { state, hasFile } = upload;
  const canContinue = (state === 'interrupted' || state === 'failed') && hasFile;
  const another = uploadPath(visit, '/new');
  return html`<div class="actions">
    ${
      canContinue
        ? html`${uploadForm(
              visit,
              upload,
              '/continue',
              html`<button>${state === 'failed' ? 'Try again' : 'Continue'}</button>`,
            )} <a href="${another}">Choose another file</a>`
        : html`<a class="button" href="${another}"
            >${state === 'done' ? 'Import another file' : 'Choose a file'}</a
          >`
    }
    <a href="${shopPath(visit.shop)}">See the overview</a>
  </div>`;
}

/** Such as "1,200 records are". */
const recordsOf = (visit: ShopVisit, { counts }: UploadView) =>
  countOf(visit, takenOf(counts), 'record is', 'records are');

function refusals(visit: ShopVisit, { refused, counts }: UploadView): Html | undefined {
  const total = refusedOf(counts);
  if (total === 0) return undefined;
  return html`<section>
    ${refusalsPart(visit, refused, total, 'were')}
    <p>
      <a class="file" href="${uploadPath(visit, '/refused.csv')}"
        >Download ${total > keptLines ? `the first ${formatCount(visit, keptLines)}` : 'them'} as
        CSV</a
      >. Correct them in the file and import it again; what is stored already stays as it is.
    </p>
  </section>`;
}

/** What records were stored without. */
function warnings(visit: ShopVisit, { refused: { warnings: groups = [] } }: UploadView) {
  if (groups.length === 0) return undefined;
  return html`<section>
    <h2>What the file leaves out</h2>
    <p>These records were stored nevertheless.</p>
    ${groupsTable(visit, groups, 'Warning', 'Warnings about stored records')}
  </section>`;
}

/** The refused lines as a file. */
export function refusedFile({ refused }: UploadView): Answer {
  const rows = refused.lines.map(({ line, reason, record = '' }) =>
    csvLine([line, record, reason]),
  );
  return {
    status: 200,
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="refused.csv"',
      'cache-control': 'private, no-store',
    },
    body: csvLine(['line', 'record', 'reason']) + rows.join(''),
  };
}
