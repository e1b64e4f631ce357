import { serialize } from 'node:v8';
import { describeError } from '../../../errors.ts';
import { keepCompiled } from '../../../store/embedded/compiled.ts';
import { examine } from './examine.ts';
import { type Report, importFile } from './import-file.ts';
import type { End, Job, JobKind, Result, Stop } from './job.ts';
import { rehearseSync } from './rehearse-sync.ts';
import { suggestSource } from './suggest-source.ts';

/*
 * The process in which uploaded files are examined and imported, and syncs rehearsed, one job at a time, so that they
 * delay no request, and end alone if they need too much memory.
 */

/** More than a page can show. The service reads it in one go, while requests wait. */
const maxExaminationBytes = 1024 * 1024;

let stopping: AbortController | undefined;

// The service has died, or no longer needs this process.
process.on('disconnect', () => process.exit(1));
// Some supervisors send it to all processes of the service, which stops this one in order.
process.on('SIGTERM', () => {});

function send(message: Report | End, done?: (error: Error | null) => void): void {
  process.send?.(message, undefined, undefined, done);
}

async function resultOf(job: Job, signal: AbortSignal): Promise<Result<JobKind>> {
  const running = { signal, report: send };
  if (job.kind === 'suggestSource') return suggestSource(job.request);
  if (job.kind === 'import') return importFile(job.request, running);
  if (job.kind === 'examine') {
    const result = await examine(job.request);
    if (serialize(result).length <= maxExaminationBytes) return result;
    const problem = `${job.request.fileName} has column names or values that are too long to be shown. Export only the columns about subscriptions: ids, status, dates, price and plan.`;
    return { problem };
  }
  await keepCompiled();
  return job.kind === 'rehearse'
    ? importFile(job.request, running, true)
    : rehearseSync(job.request, running);
}

process.on('message', async (job: Job | Stop) => {
  if (job.kind === 'stop') return stopping?.abort();
  stopping = new AbortController();
  let end: End;
  try {
    end = { kind: 'result', result: await resultOf(job, stopping.signal) };
  } catch (error) {
    end = { kind: 'failed', reason: describeError(error) };
  }
  // Without the service, which may have died just now, nothing was done.
  send(end, (error) => {
    if (error) process.exit(1);
  });
});
