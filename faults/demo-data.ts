import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { environmentOf, retention } from './instance.ts';

const subscriptions = 40;

/** @param folder without a developer's .env */
export async function importDemoData(
  databaseUrl: string,
  shopId: number,
  folder: string,
): Promise<void> {
  // Old enough that no window of the figures moves during the drill.
  const made = `demo-data --subscriptions ${subscriptions} --until 2025-01-01T00:00:00Z`;
  await promisify(execFile)(
    'sh',
    ['-c', `"${retention}" ${made} | "${retention}" import --shop ${shopId} -`],
    { cwd: folder, env: environmentOf({ DATABASE_URL: databaseUrl, LOG_LEVEL: 'error' }) },
  );
}
