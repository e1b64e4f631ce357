/* How long 200 owners wait who sign in at once while 50 guess, relative to 200 bare hashes. */
import { argon2 } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { hashPassword } from '../src/accounts/passwords.ts';
import { migrate } from '../src/store/migrate.ts';
import { openStore } from '../src/store/open.ts';
import { ensureOwner, updatePassword } from '../src/store/owners/owners.ts';
import { Visitor, newAddress, newEmail, password } from '../test/owner/visitor.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { startService } from './processes.ts';
import { beginTable, figure, print } from './report.ts';
import { rounds } from './settings.ts';
import { median } from './statistics.ts';

const owners = 200;
const guessers = 50;

/** The same work as a sign-in, and nothing else, on all cores. @returns milliseconds */
async function hashBare(): Promise<number> {
  const derive = promisify(argon2);
  const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
  const message = { message: password, nonce: Buffer.alloc(16) };
  let left = owners;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (; left > 0; left -= 1) await derive('argon2id', { ...message, ...cost });
    }),
  );
  return performance.now() - began;
}

interface Crowd {
  readonly emails: readonly string[];
  readonly addressOf: () => string;
  /** Where guesses come from; none without. */
  readonly guesserOf?: () => string;
}

/** @returns when the last owner was signed in, how many were refused, and how many guesses were checked meanwhile */
async function signInAll(baseUrl: string, { emails, addressOf, guesserOf }: Crowd) {
  const over = new AbortController();
  let guessed = 0;
  const guesses = Array.from({ length: guesserOf ? guessers : 0 }, async () => {
    const guesser = new Visitor(baseUrl, guesserOf?.());
    await guesser.get('/app/sign-in');
    while (!over.signal.aborted) {
      const guess = { email: newEmail(), password: 'not the right one' };
      if ((await guesser.post('/app/sign-in', guess)).status === 422) guessed += 1;
    }
  });
  const browsers = emails.map((email) => ({ email, visitor: new Visitor(baseUrl, addressOf()) }));
  for (const { visitor } of browsers) await visitor.get('/app/sign-in');
  guessed = 0;
  const began = performance.now();
  const answers = await Promise.all(
    browsers.map(({ email, visitor }) => visitor.post('/app/sign-in', { email, password })),
  );
  const taken = { milliseconds: performance.now() - began, guessed };
  over.abort();
  await Promise.all(guesses);
  return { ...taken, refused: answers.filter(({ status }) => status !== 303).length };
}

const postgres = await startPostgres(['fsync=off']);
if (!postgres) throw new Error('PostgreSQL is not installed: nothing can be measured.');
const store = await openStore({ databaseUrl: postgres.url, dataDir: '', role: 'command' });
await migrate(store.write);
const emails = Array.from({ length: owners }, newEmail);
const hash = await hashPassword(password, 'bench');
for (const email of emails) {
  const ownerId = await ensureOwner(store.write, email, new Date());
  await store.write.begin((tx) => updatePassword(tx, ownerId, null, hash));
}
const [office, elsewhere] = [newAddress(), newAddress()];
const crowds: Readonly<Record<string, Omit<Crowd, 'emails'>>> = {
  'no guesses': { addressOf: newAddress },
  'guesses from 50 networks': { addressOf: newAddress, guesserOf: newAddress },
  'guesses from one network': { addressOf: newAddress, guesserOf: () => elsewhere },
  'all owners in one network, guesses from 50': { addressOf: () => office, guesserOf: newAddress },
};
print(
  `${owners} sign-ins, ${guessers} guessers, ${availableParallelism()} cores. Medians of ${rounds} rounds.`,
);
{
  await using service = await startService({ DATABASE_URL: postgres.url, LOG_LEVEL: 'info' }, []);
  const baseUrl = `http://127.0.0.1:${service.port}`;
  const row = beginTable(['', 'bare ms', 'last owner ms', 'ratio', 'guesses', 'refused']);
  for (const [name, crowd] of Object.entries(crowds)) {
    const results: { bare: number; last: number; guessed: number; refused: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const bare = await hashBare();
      const { milliseconds: last, ...rest } = await signInAll(baseUrl, { emails, ...crowd });
      results.push({ bare, last, ...rest });
    }
    row(
      name,
      figure(median(results.map(({ bare }) => bare))),
      figure(median(results.map(({ last }) => last))),
      figure(median(results.map(({ bare, last }) => last / bare)), 2),
      figure(median(results.map(({ guessed }) => guessed))),
      String(results.reduce((sum, { refused }) => sum + refused, 0)),
    );
  }
}
await store.close();
await postgres.destroy();
