import { Worker } from 'node:worker_threads';
import type { ExamineRequest, Examination, Unusable } from './examine.ts';
import { ShopTurns } from './shop-turns.ts';

const maxMilliseconds = 60_000;
/** Such as for a row that is the whole file. */
const maxOldGenerationSizeMb = 512;

const turns = new ShopTurns();

/** Examines a file in a thread of its own, when it is the shop's turn. */
export function examineFile(request: ExamineRequest): Promise<Examination | Unusable> {
  return turns.run(request.shop.id, () => inThread(request));
}

function inThread(request: ExamineRequest): Promise<Examination | Unusable> {
  const tooHard = {
    problem: `${request.fileName} could not be read in time. Split it into smaller files.`,
  };
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: request,
      resourceLimits: { maxOldGenerationSizeMb },
    });
    const timer = setTimeout(() => {
      resolve(tooHard);
      void worker.terminate();
    }, maxMilliseconds);
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (isTooLarge) resolve(tooHard);
      else reject(error);
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the thread that examines a file ended without a result'));
    });
  });
}
