import { serialize } from 'node:v8';
import { describeError } from '../../../errors.ts';
import { examine } from './examine.ts';
import { type Report, importFile } from './import-file.ts';
import type { End, Job } from './job.ts';
import { rehearseSync } from './rehearse-sync.ts';
import { suggestSource } from './suggest-source.ts';

/*
 * The process in which an uploaded file is examined or imported, or a sync is rehearsed, so that it delays no request, and ends alone if it
 * needs too much memory.
 */

/** More than a page can show. The service reads it in one go, while requests wait. */
const maxExaminationBytes = 1024 * 1024;

const stopping = new AbortController();

// The service has died.
process.on('disconnect', () => process.exit(1));
// Some supervisors send it to all processes of the service, which stops this one in order.
process.on('SIGTERM', () => {});

function send(message: Report | End, done?: (error: Error | null) => void): void {
  process.send?.(message, undefined, undefined, done);
}

async function run(job: Job): Promise<End> {
  try {
    const running = { signal: stopping.signal, report: send };
    if (job.kind === 'rehearseSync') {
      return { kind: 'result', result: await rehearseSync(job.request, running) };
    }
    if (job.kind === 'suggestSource') {
      return { kind: 'result', result: await suggestSource(job.request) };
    }
    if (job.kind !== 'examine') {
      const result = await importFile(job.request, running, job.kind === 'rehearse');
      return { kind: 'result', result };
    }
    const result = await examine(job.request);
    if (serialize(result).length <= maxExaminationBytes) return { kind: 'result', result };
    const problem = `${job.request.fileName} has column names or values that are too long to be shown. Export only the columns about subscriptions: ids, status, dates, price and plan.`;
    return { kind: 'result', result: { problem } };
  } catch (error) {
    return { kind: 'failed', reason: describeError(error) };
  }
}

process.once('message', (job: Job) => {
  process.once('message', () => stopping.abort());
  // Without the service, which may have died just now, nothing was done.
  void run(job).then((end) => send(end, (error) => process.exit(error ? 1 : 0)));
});
