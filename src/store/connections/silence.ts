import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Session } from './session.ts';

export interface Verdict {
  /** Why the connection is dead; undefined if it has answered or ended by itself. */
  readonly cause?: Error;
  /** The connection used for checking; it can replace the dead one. */
  readonly probe?: Session | undefined;
}

interface ExamineOptions {
  /** @throws if the server cannot be reached */
  readonly open: () => Promise<Session>;
  /** How long the connection may be silent while its server is unreachable as well. */
  readonly giveUpMilliseconds: number;
}

/** The server was not reachable on any connection. */
class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly code = 'NO_ANSWER';
}

export const isUnreachable = (error: Error) => error instanceof Unreachable;

const answerMilliseconds = 2_000;
const retryMilliseconds = 250;
const busyPollMilliseconds = 1_000;

/**
 * Finds out whether a silent connection is dead or its server is just slow. The connection itself shows no
 * error: after a failover behind one address, or if a router has dropped it, everything sent is silently
 * lost. A new connection can ask the server what the backend process is doing.
 */
export async function examine(session: Session, options: ExamineOptions): Promise<Verdict> {
  const { lastActiveAt } = session;
  const isSilent = () =>
    session.isOpen && session.inFlight > 0 && session.lastActiveAt === lastActiveAt;
  let probe: Session | undefined;
  // Check twice, since its answer may be in transit.
  for (let idle = 0; isSilent();) {
    try {
      probe = probe?.isOpen ? probe : await options.open();
      if (probe.server !== session.server) {
        return { probe, cause: new Error(`${session.server.host} is no longer in use`) };
      }
      idle = (await isBusy(session, probe)) ? 0 : idle + 1;
      if (idle === 2) {
        await terminateBackend(session, probe);
        return { probe, cause: new Error('the server is not processing anything on it') };
      }
      await sleep(idle === 0 ? busyPollMilliseconds : retryMilliseconds);
    } catch (error) {
      const silence = systemClock.monotonic() - lastActiveAt;
      if (isSilent() && silence > options.giveUpMilliseconds) {
        const { message } = error as Error;
        return { cause: new Unreachable(`no answer within ${Math.round(silence)} ms; ${message}`) };
      }
      await sleep(retryMilliseconds);
    }
  }
  return { probe };
}

/** @throws if the probe gets no answer either */
async function isBusy(session: Session, probe: Session): Promise<boolean> {
  const [row] = await queryBackend<{ state: string | null }>('state', session, probe);
  // A state that is hidden or not tracked counts as busy.
  return row !== undefined && !(row.state ?? '').startsWith('idle');
}

/** Otherwise the server would keep the backend for hours, with its transaction and locks. */
async function terminateBackend(session: Session, probe: Session): Promise<void> {
  await queryBackend('pg_terminate_backend(pid)', session, probe);
}

/** Queries pg_stat_activity for a session's backend, if it still exists. */
async function queryBackend<Row extends object>(
  what: string,
  { pid, startedAt }: Session,
  probe: Session,
): Promise<readonly Row[]> {
  const timer = setTimeout(
    () => probe.destroy(new Error(`no answer within ${answerMilliseconds} ms`)),
    answerMilliseconds,
  );
  try {
    return await probe.query<Row>(
      `select ${what} from pg_stat_activity where pid = ${pid} and backend_start = '${startedAt}'`,
    );
  } finally {
    clearTimeout(timer);
  }
}
