import { describe, test } from 'node:test';
import { findPostgresPrograms, startPostgres } from '../support/postgres.ts';
import { pushWhileKilled } from './killed-senders.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';

// test-long/pushed.test.ts does the same with more records and kills, on both databases.
describe('records pushed by eight senders', { skip, timeout: 600_000 }, () => {
  test('are each stored once while the server is killed', async (t) => {
    const postgres = await startPostgres(['fsync=off']);
    t.after(() => postgres?.destroy());
    await pushWhileKilled(postgres, { records: 2000, batchSize: 50, kills: 1 });
  });
});
