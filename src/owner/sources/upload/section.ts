import type { UploadState } from '../../../store/push/uploads.ts';
import type { UploadView } from '../../../push/upload/uploads.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ShopVisit } from '../../pages.ts';
import { uploadPath } from './parts.ts';

const states: Readonly<
  Record<UploadState, { readonly dot: string; readonly word: string; readonly link: string }>
> = {
  waiting: { dot: 'attention', word: 'Waiting for you', link: 'Check it' },
  running: { dot: '', word: 'Importing', link: 'See how far it is' },
  stopping: { dot: '', word: 'Stopping', link: 'See how far it is' },
  done: { dot: 'good', word: 'Imported', link: 'See the result' },
  failed: { dot: 'bad', word: 'Failed', link: 'See why' },
  stopped: { dot: '', word: 'Stopped', link: 'See the result' },
  interrupted: { dot: 'attention', word: 'Interrupted', link: 'Continue' },
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
      isBusy
        ? undefined
        : html`<p class="actions">
            <a class="button" href="${uploadPath(visit, '/new')}">Import a file</a>
          </p>`
    }
  </section>`;
}
