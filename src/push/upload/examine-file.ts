import type { ExamineRequest, Examination, Unusable } from './jobs/examine.ts';
import { JobEnded, runJob } from './jobs/run-job.ts';
import { ShopTurns } from './shop-turns.ts';

const turns = new ShopTurns();

/** Examines a file in a process of its own, when it is the shop's turn. */
export function examineFile(
  request: ExamineRequest,
  heapMegabytes: number,
): Promise<Examination | Unusable> {
  return turns.run(request.shop.id, async () => {
    try {
      return await runJob('examine', request, { heapMegabytes });
    } catch (error) {
      if (!(error instanceof JobEnded)) throw error;
      return { problem: error.problemFor(request.fileName) };
    }
  });
}
