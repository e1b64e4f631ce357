import { apiKeys, createUnloggedKey } from '../../access/keys/keys.ts';
import { createSecret } from '../../access/secrets.ts';
import { systemClock } from '../../clock.ts';
import { generateShop } from '../../demo/generate.ts';
import { type LineSource, importRecords } from '../../ingest/import.ts';
import type { Line } from '../../ingest/lines.ts';
import type { Log } from '../../log/log.ts';
import { inviteOwner, resetPassword } from '../../accounts/links.ts';
import { listKeys } from '../../store/keys/keys.ts';
import type { Sql } from '../../store/database.ts';
import type { Store } from '../../store/open.ts';
import { findOwnerByEmail } from '../../store/owners/owners.ts';
import { type Shop, findShop, insertShop, listShops } from '../../store/shops.ts';
import { defineCommand, flag } from '../framework/command.ts';
import { type Io, print, tell, createProgress } from '../framework/io.ts';
import { lockedError } from '../store.ts';
import { limitHeap } from './heap.ts';
import { embeddedSettings, ownCommand } from './own-command.ts';
import { serve } from './serve.ts';
import { scopes } from '../../vocabulary.ts';

const demoShop = { id: 1, name: 'Demo Coffee', tier: 'pro', currency: 'USD' } as const;
/** The examples of the documentation have ids of this shop. */
export const demoRecordOptions = {
  subscriptions: 3000,
  seed: 20_26,
  currency: demoShop.currency,
  minorDigits: 2,
};
const batchSize = 500;
/** A key with this name marks a demo shop whose import has finished. */
const keyName = 'Demo key';
const ownerEmail = 'owner@example.com';

export const demoCommand = defineCommand({
  name: 'demo',
  about: 'serves the embedded database, with a generated demo shop if it is empty',
  options: { newKey: flag('creates another API key, which is printed once like the first') },
  run({ newKey: wantsKey }, context) {
    const { config, log, io } = context;
    const embedded = { ...config, databaseUrl: undefined, databaseServeUrl: undefined };
    limitHeap(embedded);
    if (config.databaseUrl !== undefined) {
      tell(io, 'The demo uses the embedded database; DATABASE_URL is ignored.');
    }
    return serve({ ...context, config: embedded }, async ({ baseUrl }, store) => {
      const firstKey = await makeDemoShop(store, log, io);
      const [shop = demoShop] = await listShops(store.write);
      const wantsAnother = firstKey === undefined && wantsKey;
      const newKey = wantsAnother ? await makeKey(store.write, log, shop) : undefined;
      // The demo also starts without a link, for example if the disk is full.
      const path = await makeSignInPath(store, shop).catch((err: unknown) => {
        log.warn({ err }, 'could not create a sign-in link');
        return '/app';
      });
      const signInUrl = `${baseUrl}${path}`;
      const command = embeddedSettings(config) + ownCommand(process.cwd());
      print(io, greeting({ baseUrl, firstKey, newKey, shop, signInUrl, command }));
    });
  },
});

async function makeKey(sql: Sql, log: Log, shop: Pick<Shop, 'id'>): Promise<string> {
  const target = {
    shopId: shop.id,
    id: apiKeys.newId(),
    actor: { who: 'command line', session: 'demo' },
  };
  const parts = { sql, clock: systemClock, log };
  const made = await createSecret(apiKeys, parts, target, { name: keyName, scopes });
  if (made.kind === 'locked') throw lockedError(shop, made.tier);
  if (made.kind !== 'created') throw new Error('A new key got the id of an earlier one.');
  return made.secret;
}

/** @returns the demo shop's key if it was created now, since keys are shown only once */
async function makeDemoShop(store: Store, log: Log, io: Io): Promise<string | undefined> {
  const shops = await listShops(store.write);
  const isOurs = shops.length === 0 || (shops.length === 1 && shops[0]?.name === demoShop.name);
  if (!isOurs) return undefined;
  if ((await listKeys(store.write, demoShop.id)).some(({ name }) => name === keyName))
    return undefined;

  tell(io, 'Filling the empty database with a demo shop. This takes a few seconds.');
  await insertShop(store.write, { ...demoShop, createdAt: new Date(systemClock.now()) });
  // After an interrupted start, this is the time of that start, so that the records are the same.
  const { createdAt } = (await findShop(store.write, demoShop.id)) as Shop;
  const progress = createProgress(io, 'records');
  await importRecords([demoRecords(createdAt.getTime())], {
    sql: store.write,
    shop: { ...demoShop, minorDigits: demoRecordOptions.minorDigits },
    feed: 'records',
    clock: systemClock,
    log,
    refuse(_source, line, reason) {
      throw new Error(`The demo shop's record ${line.number} was refused: ${reason}`);
    },
    progress: (settled) => progress.show(settled),
  });
  progress.clear();
  const { key } = await createUnloggedKey(store.write, demoShop.id, {
    name: keyName,
    scopes,
    createdBy: 'demo',
    createdAt,
  });
  return key;
}

/** A one-time link for the demo shop's owner; the start page if the data is not the demo's. */
async function makeSignInPath(store: Store, shop: Pick<Shop, 'id' | 'name'>): Promise<string> {
  if (shop.id !== demoShop.id || shop.name !== demoShop.name) return '/app';
  const owner = await findOwnerByEmail(store.write, ownerEmail);
  const link =
    owner && owner.passwordHash !== null
      ? await resetPassword(store.write, systemClock, ownerEmail)
      : await inviteOwner(store.write, systemClock, { shopId: shop.id, email: ownerEmail });
  return link?.path ?? '/app';
}

function demoRecords(endAt: number): LineSource {
  async function* lines(): AsyncGenerator<Line[]> {
    let number = 0;
    let some: Line[] = [];
    for (const record of generateShop({ ...demoRecordOptions, endAt })) {
      number += 1;
      some.push({ number, text: JSON.stringify(record) });
      if (some.length < batchSize) continue;
      yield some;
      some = [];
    }
    yield some;
  }
  return { name: 'demo', lines: lines() };
}

interface Greeting {
  readonly baseUrl: string;
  /** The key of a shop that this start made. */
  readonly firstKey: string | undefined;
  readonly newKey: string | undefined;
  readonly shop: Pick<Shop, 'id' | 'name'>;
  readonly signInUrl: string;
  /** How to start this program here. */
  readonly command: string;
}

function greeting(parts: Greeting): string {
  const { baseUrl, firstKey, newKey, signInUrl } = parts;
  const key = firstKey ?? newKey ?? '$RETENTION_API_KEY';
  const url = `${baseUrl}/api/external/v1/metrics/summary`;
  return [
    '',
    `Retention Data Service listens on ${baseUrl}`,
    ...aboutKeys(parts),
    'Try it:',
    `  curl -H "Authorization: Bearer ${key}" ${url}`,
    'Ctrl-C stops it; the data stays.',
    `Reference: ${baseUrl}/docs`,
    `Owner's pages: ${signInUrl}`,
    '',
  ].join('\n');
}

function aboutKeys({ firstKey, newKey, shop, command }: Greeting): string[] {
  if (firstKey !== undefined) {
    return ['Its demo shop has this key, shown only now:', `  ${firstKey}`];
  }
  const found =
    shop.name === demoShop.name
      ? 'The demo shop is still there.'
      : 'The data that was there is still there.';
  if (newKey !== undefined) {
    return [found, 'It has a new key, shown only now; earlier keys still work:', `  ${newKey}`];
  }
  return [
    found,
    'Keys are shown once. To get another one, start the demo with --new-key:',
    `  ${command} demo --new-key`,
    'Or create it while this runs, in another terminal in this folder:',
    `  ${command} keys create --shop ${shop.id} --name "My key" --scopes ${scopes.join(',')}`,
  ];
}
