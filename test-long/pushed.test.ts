import { describe, test } from 'node:test';
import { pushWhileKilled } from './killed-senders.ts';
import { findPostgresPrograms, startPostgres } from '../test/support/postgres.ts';

const skip = findPostgresPrograms() === undefined && 'PostgreSQL is not available on this machine';
const load = { records: 50_000, batchSize: 500, kills: 3 };

describe('50,000 records pushed by eight senders', { timeout: 1_200_000 }, () => {
  test(
    'are each stored once while the server is killed three times (PostgreSQL)',
    { skip },
    async (t) => {
      const postgres = await startPostgres([]);
      t.after(() => postgres?.destroy());
      await pushWhileKilled(postgres, load);
    },
  );

  test('are each stored once while the server is killed three times (embedded)', async () => {
    await pushWhileKilled(undefined, load);
  });
});
