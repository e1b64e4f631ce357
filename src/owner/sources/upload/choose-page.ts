import type { Answer } from '../../../http/answer.ts';
import { html } from '../../../http/html.ts';
import type { ShopVisit } from '../../pages.ts';
import { alert, shopPath, token } from '../../ui/layout.ts';
import { formatBytes } from '../../ui/locale.ts';
import { uploadPage, uploadPath } from './parts.ts';

interface Choosing {
  readonly maxBytes: number;
  /** Why the last file was not taken. */
  readonly problem?: string | undefined;
  readonly status?: number;
}

/** Where an owner chooses a file. */
export function choosePage(visit: ShopVisit, { maxBytes, problem, status }: Choosing): Answer {
  const content = html`${alert(problem)}
    <form class="card" method="post" action="${uploadPath(visit)}" enctype="multipart/form-data">
      ${token(visit)}
      <p>
        Choose a file with your subscriptions: an export of your billing system, or a table from a
        spreadsheet. You see what it would give before anything is stored.
      </p>
      <p class="field">
        <label for="file">File</label>
        <input
          id="file"
          name="file"
          type="file"
          accept=".csv,.tsv,.txt,.json,.ndjson,.jsonl,.gz"
          required
          aria-describedby="file-hint"
        />
        <span class="hint" id="file-hint"
          >CSV or JSON, up to ${formatBytes(visit, maxBytes)}. Save a workbook as CSV first.</span
        >
      </p>
      <p class="actions">
        <button>Upload and check</button>
        <a href="${shopPath(visit.shop, '/sources')}">Cancel</a>
      </p>
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
  return uploadPage(visit, {
    title: 'Import a file',
    content,
    ...(status !== undefined && { status }),
  });
}
