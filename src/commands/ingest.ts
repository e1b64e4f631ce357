import { text as readText } from 'node:stream/consumers';
import { systemClock } from '../clock.ts';
import {
  type Made,
  type SecretParts,
  type Target,
  createSecret,
  revokeSecret,
  rotateSecret,
} from '../access/secrets.ts';
import { isVendorSecret, overlapUntil, pushSources, secretSealing } from '../push/sources.ts';
import { type SchemeName, isSchemeName, schemeNames } from '../push/signature.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type PushSourceListing, listPushSources } from '../store/push/sources.ts';
import type { Sql } from '../store/database.ts';
import type { Shop } from '../store/shops.ts';
import { maxNameLength } from '../vocabulary.ts';
import { awaitCommit, warnAboutFailover, lockedError, shopOption, withShop } from './store.ts';
import {
  type Context,
  type Value,
  defineCommand,
  exitStatus,
  duration,
  flag,
  jsonFlag,
  optional,
  required,
  text,
  withDefault,
} from './framework/command.ts';
import { type Io, printSecret, tell, table } from './framework/io.ts';

const vendors = schemeNames.filter((name) => name !== 'standard');

const vendorScheme: Value<SchemeName> = {
  hint: 'SCHEME',
  choices: vendors,
  read(typed, name) {
    if (isSchemeName(typed) && typed !== 'standard') return typed;
    throw new UsageError(`${name} takes one of ${vendors.join(', ')}, not "${typed}".`);
  },
};

const sealingOf = ({ config }: Context) => secretSealing(config.credentialsKeys);

const sourceArgument = {
  source: required(text('SOURCE_ID'), 'as "retention ingest list" shows it'),
};

interface Making {
  readonly sourceId: string;
  /** The secret that a vendor has made; it is known, so it is not shown. */
  readonly given: string | undefined;
  readonly json: boolean;
  readonly otherwise: CommandError;
}

/** Creates a secret, and prints it before it is kept. */
async function printMade(
  { io, log, actor }: Context,
  sql: Sql,
  shop: Shop,
  { sourceId, given, json, otherwise }: Making,
  make: (parts: SecretParts, target: Target) => Promise<Made>,
): Promise<void> {
  const isShown = given === undefined;
  const show = (secret: string) => {
    if (json) return printSecret(io, JSON.stringify({ sourceId, ...(isShown && { secret }) }));
    return printSecret(io, isShown ? `${sourceId}\n${secret}` : sourceId);
  };
  const parts = { sql, clock: systemClock, log, show };
  const made = await make(parts, { shopId: shop.id, id: sourceId, actor });
  if (made.kind === 'locked') throw lockedError(shop, made.tier);
  if (made.kind !== 'created') throw otherwise;
  if (json || !isShown) return;
  tell(
    io,
    'The source, and the secret that its requests are signed with. Copy it now: it is not shown again.',
  );
}

const create = defineCommand({
  name: 'ingest create',
  acts: ['source_created'],
  about: 'creates a source that may push records, and prints its signing secret once',
  notes: [
    'Send records to POST /ingest/v1/SOURCE_ID/records, signed by Standard Webhooks; see docs/push.md.',
    'Webhooks of a vendor go to POST /ingest/v1/SOURCE_ID/mapped/MAPPING.',
    'The shop must be on a tier with API access: growth or higher.',
  ],
  options: {
    ...shopOption,
    name: required(text('TEXT'), 'the name of the source'),
    scheme: optional(
      vendorScheme,
      'for webhooks of a vendor, whose secret is read from standard input',
    ),
    json: jsonFlag,
  },
  async run({ shop: shopId, name, scheme, json }, context) {
    const { io } = context;
    if (name.length > maxNameLength) {
      throw new UsageError(`--name takes at most ${maxNameLength} characters.`);
    }
    const given = scheme && (await readSecret(io));
    await withShop(context, shopId, ({ write }, shop) => {
      const sourceId = pushSources.newId();
      const otherwise = new CommandError('No source was created; try again.');
      const source = { name, scheme, given, sealing: sealingOf(context) };
      return printMade(context, write, shop, { sourceId, given, json, otherwise }, (...of) =>
        createSecret(pushSources, ...of, source),
      );
    });
    return exitStatus.done;
  },
});

/** The secret of a vendor: on the command line, it would show in the list of processes. */
async function readSecret({ stdin }: Io): Promise<string> {
  const secret = (await readText(stdin)).trim();
  if (isVendorSecret(secret)) return secret;
  throw new UsageError(
    "Standard input must be the vendor's signing secret, 8 to 500 characters without spaces.",
  );
}

const list = defineCommand({
  name: 'ingest list',
  about: 'lists the sources that may push records into a shop, without their secrets',
  notes: [
    'REFUSED is how many records were refused in the last 30 days; the last reason is below the table.',
  ],
  options: shopOption,
  run: ({ shop }, context) =>
    withShop(context, shop, ({ write }) => listPushSources(write, shop, systemClock.now())),
  document: (sources) =>
    sources.map(({ sourceId, name, scheme, createdBy, createdAt, lastBatchAt, ...rest }) => {
      const { previousUntil, revokedAt } = rest;
      const { refusedRecords, lastRefusedAt, lastRefusedReason } = rest;
      const times = { createdAt, lastBatchAt, previousUntil, revokedAt };
      const refused = { refusedRecords, lastRefusedAt, lastRefusedReason };
      return { sourceId, name, scheme, createdBy, ...times, ...refused };
    }),
  show(sources) {
    if (sources.length === 0) return 'No source pushes records into this shop.';
    return [
      table(sources, {
        ID: ({ sourceId }) => sourceId,
        NAME: ({ name }) => name,
        SCHEME: ({ scheme }) => scheme,
        CREATED: ({ createdAt }) => createdAt,
        'LAST BATCH': ({ lastBatchAt }) => lastBatchAt ?? 'never',
        REFUSED: ({ refusedRecords }) => refusedRecords,
        STATE: stateOf,
      }),
      ...sources
        .filter(({ lastRefusedAt }) => lastRefusedAt !== null)
        .map(
          ({ sourceId, lastRefusedAt, lastRefusedReason }) =>
            `${sourceId} was last refused at ${lastRefusedAt?.toISOString()}: ${lastRefusedReason}`,
        ),
    ].join('\n');
  },
});

function stateOf(source: PushSourceListing): string {
  if (source.revokedAt) return `revoked ${source.revokedAt.toISOString()}`;
  const until = overlapUntil(source, systemClock.now());
  return until ? `active, old secret until ${until.toISOString()}` : 'active';
}

/** Also none. */
const overlapDuration: Value<number> = {
  ...duration,
  read: (typed, name) => (typed === '0h' ? 0 : duration.read(typed, name)),
};

const rotate = defineCommand({
  name: 'ingest rotate',
  acts: ['source_rotated'],
  about: "replaces a source's signing secret, and prints the new one once",
  notes: ["The new secret of a vendor's webhooks is read from standard input."],
  arguments: sourceArgument,
  options: {
    ...shopOption,
    overlap: withDefault(
      overlapDuration,
      '24h',
      'how long the old secret is accepted too, in whole hours or days; 0h ends it at once',
    ),
    endEarlier: flag(
      'rotate although the secret before the last rotation is still accepted, which ends it now',
    ),
    json: jsonFlag,
  },
  async run({ shop: shopId, source: sourceId, overlap, endEarlier, json }, context) {
    const { io } = context;
    await withShop(context, shopId, async ({ write: sql }, shop) => {
      const sources = await listPushSources(sql, shopId, systemClock.now());
      const found = sources.find((each) => each.sourceId === sourceId);
      const otherwise = missingError(shopId, sourceId);
      if (!found) throw otherwise;
      const given = found.scheme === 'standard' ? undefined : await readSecret(io);
      const until = overlapUntil(found, systemClock.now());
      if (until && !endEarlier) throw overlapError(until);
      const renewal = { given, overlapMilliseconds: overlap, sealing: sealingOf(context) };
      await printMade(context, sql, shop, { sourceId, given, json, otherwise }, (...of) =>
        awaitCommit(rotateSecret(pushSources, ...of, renewal), io),
      );
    });
    return exitStatus.done;
  },
});

function missingError(shopId: number, sourceId: string): CommandError {
  return new CommandError(
    `Shop ${shopId} has no source ${sourceId} that is in use; "retention ingest list" lists its sources.`,
  );
}

function overlapError(until: Date): CommandError {
  return new CommandError(
    `Nothing was rotated: the secret before the last rotation is accepted until ${until.toISOString()}, and another rotation ends that at once. Wait, or add --end-earlier.`,
  );
}

const revoke = defineCommand({
  name: 'ingest revoke',
  acts: ['source_revoked'],
  about: 'revokes a source: its requests are refused from now on, and what it pushed stays',
  arguments: sourceArgument,
  options: shopOption,
  run: ({ shop, source: sourceId }, context) =>
    withShop(context, shop, async ({ write: sql }) => {
      const parts = { sql, clock: systemClock, log: context.log };
      const target = { shopId: shop, id: sourceId, actor: context.actor };
      const revoking = revokeSecret(pushSources, parts, target);
      if (!(await awaitCommit(revoking, context.io))) throw missingError(shop, sourceId);
      await warnAboutFailover(context, sql);
      return { shop, sourceId, state: 'revoked' };
    }),
  show: ({ sourceId }) => `Source ${sourceId} is revoked.`,
});

export const ingestCommands = [create, list, rotate, revoke];
