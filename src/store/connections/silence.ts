import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../clock.ts';
import type { Session } from './session.ts';

export interface Verdict {
  /** Why its connection is dead; undefined where it has answered, or has ended by itself. */
  readonly cause?: Error;
  /** The connection on which it was asked about, which can take its place. */
  readonly witness?: Session | undefined;
}

interface Means {
  /** @throws when the server cannot be reached */
  readonly open: () => Promise<Session>;
  /** How long it may be silent while its server cannot be reached either. */
  readonly giveUpMilliseconds: number;
}

/** The server could not be reached any more on any connection. */
class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly code = 'NO_ANSWER';
}

export const isUnreachable = (error: Error) => error instanceof Unreachable;

const answerMilliseconds = 2_000;
const retryMilliseconds = 250;
const workingMilliseconds = 1_000;

/**
 * Finds out whether a connection that owes an answer is dead, or its server is slow. Nothing on the
 * connection itself tells: after a failover behind one address, or in a router that has forgotten it,
 * what is sent is lost without a word. On a new connection the server says what its process does.
 */
export async function examine(session: Session, means: Means): Promise<Verdict> {
  const { heardAt } = session;
  const isSilent = () => session.isOpen && session.inFlight > 0 && session.heardAt === heardAt;
  let witness: Session | undefined;
  // Twice, since its answer may be on the way.
  for (let idle = 0; isSilent();) {
    try {
      witness = witness?.isOpen ? witness : await means.open();
      if (witness.place !== session.place) {
        return { witness, cause: new Error(`${session.place.host} is not in use any more`) };
      }
      idle = (await isAtWork(session, witness)) ? 0 : idle + 1;
      if (idle === 2) {
        await endLeft(session, witness);
        return { witness, cause: new Error('the server has nothing to answer on it') };
      }
      await sleep(idle === 0 ? workingMilliseconds : retryMilliseconds);
    } catch (error) {
      const silence = systemClock.monotonic() - heardAt;
      if (isSilent() && silence > means.giveUpMilliseconds) {
        const { message } = error as Error;
        return { cause: new Unreachable(`no answer within ${Math.round(silence)} ms; ${message}`) };
      }
      await sleep(retryMilliseconds);
    }
  }
  return { witness };
}

/** @throws when the witness gets no answer either */
async function isAtWork(session: Session, witness: Session): Promise<boolean> {
  const [row] = await askOf<{ state: string | null }>('state', session, witness);
  // What may not be seen, or is not tracked, is believed to be at work.
  return row !== undefined && !(row.state ?? '').startsWith('idle');
}

/** Else the server would keep the process for hours, with its transaction and its locks. */
async function endLeft(session: Session, witness: Session): Promise<void> {
  await askOf('pg_terminate_backend(pid)', session, witness);
}

/** Asks for something about the process of a session, if it is still there. */
async function askOf<Row extends object>(
  what: string,
  { pid, begunAt }: Session,
  witness: Session,
): Promise<readonly Row[]> {
  const timer = setTimeout(
    () => witness.destroy(new Error(`no answer within ${answerMilliseconds} ms`)),
    answerMilliseconds,
  );
  try {
    return await witness.ask<Row>(
      `select ${what} from pg_stat_activity where pid = ${pid} and backend_start = '${begunAt}'`,
    );
  } finally {
    clearTimeout(timer);
  }
}
