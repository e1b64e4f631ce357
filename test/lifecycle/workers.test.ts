import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Running, launch } from '../cli/process.ts';
import { type PostgresServer, findPostgresPrograms } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { startServedDatabase } from './served-database.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

interface Line {
  readonly msg: string;
  readonly pid?: number;
}

describe('several workers', { skip, timeout: 600_000 }, () => {
  let database: PostgresServer;
  let env: Record<string, string>;
  let key = '';

  before(async () => {
    ({ database, env, key } = await startServedDatabase({
      // Nothing listens there: each worker limits alone, which does not matter here.
      REDIS_URL: 'redis://127.0.0.1:1',
      PORT: '0',
    }));
  });
  after(() => database.destroy());

  /** Its log lines so far. */
  function watchLog({ child }: Running) {
    let text = '';
    child.stderr?.on('data', (chunk: string) => (text += chunk));
    const lines = (message: string) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Line)
        .filter(({ msg }) => msg === message);
    /** The processes that listen, in the order in which they started to. */
    const listening = () => lines('listening').map(({ pid }) => pid as number);
    return { lines, listening };
  }

  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('share a port, replace a killed worker while the others answer, and stop cleanly', async () => {
    const tree = launch(['serve', '--workers', '2'], { env });
    const log = watchLog(tree);
    const [, baseUrl = ''] = await tree.said(/listens on (\S+)\n/);
    const plans = async () => {
      // One connection each, so that both workers get some.
      const response = await fetch(`${baseUrl}/api/external/v1/plans`, {
        headers: { authorization: `Bearer ${key}`, connection: 'close' },
      });
      return response.status;
    };
    assert.deepEqual(new Set(await Promise.all(Array.from({ length: 40 }, plans))), new Set([200]));
    const [first, second] = await until(log.listening, ({ length }) => length === 2);
    assert.ok(first && second && first !== second);

    process.kill(first, 'SIGKILL');
    // Requests of the killed worker are lost, but none that arrive once its exit is known.
    const died = 'worker died; starting another';
    await until(() => log.lines(died).length === 1);
    for (let each = 0; each < 40; each += 1) assert.equal(await plans(), 200);
    const third = await until(() => log.listening()[2]);
    assert.ok(third && third !== first && third !== second);
    assert.equal(log.lines(died).length, 1);

    // Requests in flight when the service is told to stop are answered.
    const inFlight = Array.from({ length: 20 }, plans);
    await Promise.all(inFlight.slice(0, 5));
    tree.child.kill('SIGTERM');
    const { code, out } = await tree.ended;
    assert.equal(code, 0);
    assert.equal(out, `Retention Data Service listens on ${baseUrl}\n`);
    assert.deepEqual([first, second, third].map(isAlive), [false, false, false]);
    await Promise.allSettled(inFlight);
  });

  test('exit with their supervisor, even if it is killed', async () => {
    const tree = launch(['serve', '--workers', '2'], { env });
    const log = watchLog(tree);
    await tree.said(/listens on (\S+)\n/);
    const pids = await until(log.listening, ({ length }) => length === 2);
    tree.child.kill('SIGKILL');
    await until(() => !pids.some(isAlive));
  });
});
