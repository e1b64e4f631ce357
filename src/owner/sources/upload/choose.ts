import type { Answer } from '../../../http/answer.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ShopVisit } from '../../pages.ts';
import { page } from '../../ui/page.ts';
import { formatBytes } from '../../ui/formats.ts';
import type { UploadView } from '../../../push/upload/uploads.ts';
import type { UploadState } from '../../../store/push/uploads.ts';
import { shopPath } from '../../site.ts';
import { actions, hiddenFields, inputField, token } from '../../ui/fields.ts';

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
