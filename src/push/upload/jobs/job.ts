import type { Examination, ExamineRequest, Unusable } from './examine.ts';
import type { ImportEnd, ImportRequest } from './import-file.ts';
import type { Suggested } from '../../../platforms/platform.ts';
import type { SuggestRequest } from './suggest-source.ts';
import type { SyncEnd, SyncRequest } from './rehearse-sync.ts';

/** The work on uploaded files, and on sources that are to be connected, that is done in processes of its own. */
interface Jobs {
  readonly examine: { readonly request: ExamineRequest; readonly result: Examination | Unusable };
  /** An import into a copy of the shop. */
  readonly rehearse: { readonly request: ImportRequest; readonly result: ImportEnd };
  /** The first sync of a source into a copy of the shop. */
  readonly rehearseSync: { readonly request: SyncRequest; readonly result: SyncEnd };
  readonly suggestSource: {
    readonly request: SuggestRequest;
    readonly result: Suggested | Unusable;
  };
  readonly import: { readonly request: ImportRequest; readonly result: ImportEnd };
}

export type JobKind = keyof Jobs;
export type Request<Kind extends JobKind> = Jobs[Kind]['request'];
export type Result<Kind extends JobKind> = Jobs[Kind]['result'];

/** What the process is sent, one after the other. */
export type Job = {
  [Kind in JobKind]: { readonly kind: Kind; readonly request: Request<Kind> };
}[JobKind];

/** Asks it to end its job early. */
export interface Stop {
  readonly kind: 'stop';
}

/** What it sends in the end: the result, or why it failed. */
export type End =
  | { readonly kind: 'result'; readonly result: Result<JobKind> }
  | { readonly kind: 'failed'; readonly reason: string };
