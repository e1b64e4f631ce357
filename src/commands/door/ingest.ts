import { text as readText } from 'node:stream/consumers';
import { systemClock } from '../../clock.ts';
import {
  createPushSource,
  isVendorSecret,
  newSourceId,
  overlapUntil,
  revokePushSource,
  rotatePushSource,
  secretSealing,
} from '../../door/sources.ts';
import { type SchemeName, isSchemeName, schemeNames } from '../../door/schemes.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { type PushSourceListing, listPushSources } from '../../store/door/sources.ts';
import type { Sql } from '../../store/database.ts';
import type { Shop } from '../../store/shops.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  formatTable,
  print,
  printDone,
  printJson,
  printSecret,
  requiredOption,
  tell,
} from '../command.ts';
import { awaitCommit, warnAboutFailover } from '../failover.ts';
import { lockedError, withShop } from '../keys.ts';
import { parseDuration } from '../terminal/times.ts';
import { maxNameLength } from '../../vocabulary.ts';

const vendors = schemeNames.filter((name) => name !== 'standard');

function partsOf({ config, log }: CommandContext, sql: Sql) {
  return { sql, clock: systemClock, log, sealing: secretSealing(config.credentialsKeys) };
}

/** The same for a command that makes a secret and shows it, unless it is a vendor's, which is known. */
function showingPartsOf(context: CommandContext, sql: Sql, sourceId: string, isVendors: boolean) {
  const show = (made: string) => {
    const secret = isVendors ? undefined : made;
    if (context.options['json']) return printSecret(JSON.stringify({ sourceId, secret }));
    return printSecret(secret === undefined ? sourceId : `${sourceId}\n${secret}`);
  };
  return { ...partsOf(context, sql), show };
}

function remindToCopy({ options }: CommandContext, isVendors: boolean): void {
  if (isVendors || options['json']) return;
  tell(
    'The source, and the secret that its requests are signed with. Copy it now: it is not shown again.',
  );
}

const create: Command = {
  name: 'ingest create',
  synopsis: '--shop ID --name TEXT [--scheme SCHEME] [--json]',
  summary: 'creates a source that may push records, and prints its signing secret once',
  details: [
    'Send records to POST /ingest/v1/SOURCE_ID/records, signed by Standard Webhooks; see docs/push.md.',
    `--scheme  for webhooks of a vendor: ${vendors.join(', ')}; the secret that the vendor shows is read`,
    '          from standard input. They go to POST /ingest/v1/SOURCE_ID/mapped/MAPPING.',
    'The shop must be on a tier with API access: growth or higher.',
  ],
  options: {
    shop: { type: 'string' },
    name: { type: 'string' },
    scheme: { type: 'string' },
    json: { type: 'boolean' },
  },
  values: { '--scheme': vendors },
  async run(context) {
    const name = requiredOption(context, 'name');
    if (name.length > maxNameLength) {
      throw new UsageError(`--name takes at most ${maxNameLength} characters.`);
    }
    const scheme = parseScheme(context.options['scheme']);
    const vendor = scheme && { scheme, secret: await readSecret() };
    await withShop(context, async ({ write: sql }, shop) => {
      const sourceId = newSourceId();
      const parts = showingPartsOf(context, sql, sourceId, vendor !== undefined);
      const source = { name, sourceId, ...(vendor && { vendor }) };
      const created = await createPushSource(parts, shop.id, 'command line', source);
      if (created.kind === 'locked') throw lockedError(shop, created.tier);
      if (created.kind !== 'created') throw new CommandError('No source was created; try again.');
      remindToCopy(context, vendor !== undefined);
    });
    return exitStatus.done;
  },
};

function parseScheme(option: CommandContext['options'][string]): SchemeName | undefined {
  if (typeof option !== 'string') return undefined;
  if (isSchemeName(option) && option !== 'standard') return option;
  throw new UsageError(`--scheme takes one of ${vendors.join(', ')}, not "${option}".`);
}

/** The secret of a vendor: on the command line, it would show in the list of processes. */
async function readSecret(): Promise<string> {
  const secret = (await readText(process.stdin)).trim();
  if (isVendorSecret(secret)) return secret;
  throw new UsageError(
    "Standard input must be the vendor's signing secret, 8 to 500 characters without spaces.",
  );
}

const list: Command = {
  name: 'ingest list',
  synopsis: '--shop ID [--json]',
  summary: 'lists the sources that may push records into a shop, without their secrets',
  details: [
    'REFUSED is how many records were refused in the last 30 days; the last reason is below the table.',
  ],
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const sources = await withShop(context, ({ write }, { id }) =>
      listPushSources(write, id, systemClock.now()),
    );
    if (context.options['json']) {
      printJson(
        sources.map(({ sourceId, name, scheme, createdBy, createdAt, lastBatchAt, ...rest }) => {
          const { previousUntil, revokedAt } = rest;
          const { refusedRecords, lastRefusedAt, lastRefusedReason } = rest;
          const times = { createdAt, lastBatchAt, previousUntil, revokedAt };
          const refused = { refusedRecords, lastRefusedAt, lastRefusedReason };
          return { sourceId, name, scheme, createdBy, ...times, ...refused };
        }),
      );
    } else if (sources.length === 0) print('No source pushes records into this shop.');
    else {
      const rows = sources.map((source) => [
        source.sourceId,
        source.name,
        source.scheme,
        source.createdAt.toISOString(),
        source.lastBatchAt?.toISOString() ?? 'never',
        String(source.refusedRecords),
        stateOf(source),
      ]);
      print(
        formatTable(['ID', 'NAME', 'SCHEME', 'CREATED', 'LAST BATCH', 'REFUSED', 'STATE'], rows),
      );
      for (const { sourceId, lastRefusedAt, lastRefusedReason } of sources) {
        if (lastRefusedAt === null) continue;
        print(
          `${sourceId} was last refused at ${lastRefusedAt.toISOString()}: ${lastRefusedReason}`,
        );
      }
    }
    return exitStatus.done;
  },
};

function stateOf(source: PushSourceListing): string {
  if (source.revokedAt) return `revoked ${source.revokedAt.toISOString()}`;
  const until = overlapUntil(source, systemClock.now());
  return until ? `active, old secret until ${until.toISOString()}` : 'active';
}

const rotate: Command = {
  name: 'ingest rotate',
  synopsis: '--shop ID SOURCE_ID [--overlap DURATION] [--end-earlier] [--json]',
  summary: "replaces a source's signing secret, and prints the new one once",
  details: [
    "The new secret of a vendor's webhooks is read from standard input.",
    '--overlap  how long the old secret is accepted too, in whole hours or days (24h); 0h ends it at once',
    '--end-earlier  rotate although the secret before the last rotation is still accepted, which ends it now',
  ],
  options: {
    shop: { type: 'string' },
    overlap: { type: 'string', default: '24h' },
    'end-earlier': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  positionals: [1, 1],
  async run(context) {
    const sourceId = context.positionals[0] as string;
    const overlap = parseOverlap(String(context.options['overlap']));
    await withShop(context, async ({ write: sql }, shop) => {
      const source = { shopId: shop.id, sourceId };
      const sources = await listPushSources(sql, shop.id, systemClock.now());
      const found = sources.find((each) => each.sourceId === sourceId);
      if (!found) throw missingError(shop, sourceId);
      const given = found.scheme === 'standard' ? undefined : await readSecret();
      const until = overlapUntil(found, systemClock.now());
      if (until && !context.options['end-earlier']) throw overlapError(until);
      const parts = showingPartsOf(context, sql, sourceId, given !== undefined);
      const rotated = await awaitCommit(rotatePushSource(parts, source, overlap, given));
      if (rotated.kind === 'locked') throw lockedError(shop, rotated.tier);
      if (rotated.kind !== 'created') throw missingError(shop, sourceId);
      remindToCopy(context, given !== undefined);
    });
    return exitStatus.done;
  },
};

/** @returns milliseconds */
function parseOverlap(text: string): number {
  const milliseconds = text === '0h' ? 0 : parseDuration(text);
  if (milliseconds === undefined) {
    throw new UsageError(
      `--overlap takes a whole number of hours or days, such as 0h, 24h or 7d, not "${text}".`,
    );
  }
  return milliseconds;
}

function missingError({ id }: Shop, sourceId: string): CommandError {
  return new CommandError(
    `Shop ${id} has no source ${sourceId} that is in use; "retention ingest list" lists its sources.`,
  );
}

function overlapError(until: Date): CommandError {
  return new CommandError(
    `Nothing was rotated: the secret before the last rotation is accepted until ${until.toISOString()}, and another rotation ends that at once. Wait, or add --end-earlier.`,
  );
}

const revoke: Command = {
  name: 'ingest revoke',
  synopsis: '--shop ID SOURCE_ID [--json]',
  summary: 'revokes a source: its requests are refused from now on, and what it pushed stays',
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  positionals: [1, 1],
  async run(context) {
    const sourceId = context.positionals[0] as string;
    await withShop(context, async ({ write: sql }, shop) => {
      const source = { shopId: shop.id, sourceId };
      if (!(await awaitCommit(revokePushSource(partsOf(context, sql), source)))) {
        throw missingError(shop, sourceId);
      }
      const document = { shop: shop.id, sourceId, state: 'revoked' };
      printDone(context, document, `Source ${sourceId} is revoked.`);
      await warnAboutFailover(context.config, sql);
    });
    return exitStatus.done;
  },
};

export const ingestCommands: readonly Command[] = [create, list, rotate, revoke];
