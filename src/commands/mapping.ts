import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../clock.ts';
import { CommandError } from '../errors.ts';
import { isDiskFull } from '../store/temporary-folder.ts';
import { checkFiles, openBytes } from '../ingest/files.ts';
import { parseAsOf } from '../mapping/read.ts';
import { readHead, withoutImport } from '../mapping/suggest/head.ts';
import type { Preview } from '../mapping/suggest/preview.ts';
import {
  type SuggestOptions,
  type Suggestion,
  suggestMapping,
} from '../mapping/suggest/suggest.ts';
import { minorDigitsOf } from '../money.ts';
import {
  defineCommand,
  exitStatus,
  currency,
  flag,
  optional,
  required,
  text,
} from './framework/command.ts';
import { printJson, tell, table } from './framework/io.ts';

const suggest = defineCommand({
  name: 'mapping suggest',
  about: 'suggests a mapping for an export of another platform',
  notes: [
    'Reads up to 16 MiB of FILE, guesses what its columns are, marks what is unsure with CHECK,',
    'and shows what the mapping makes of it. Nothing is stored. See docs/mappings.md.',
  ],
  arguments: {
    file: required(
      text('FILE'),
      'CSV or JSON; a name that ends in .gz is unpacked; - is standard input',
    ),
  },
  options: {
    output: optional(text('FILE'), 'writes the mapping to a new file instead of standard output'),
    asOf: optional(text('TIME'), 'the date of the export, 2026-11-01 or a time; by default now'),
    currency: optional(currency, 'of the shop (by default that of FILE, or USD)'),
    json: flag('prints {"mapping","columns","checks","preview",…}; the mapping is a text'),
  },
  async run({ file, output, asOf, currency: code, json }, { io }) {
    const exportedAt = asOf === undefined ? undefined : parseAsOf(asOf, systemClock);
    await checkFiles([file]);
    const options = { clock: systemClock, currency: code, asOf: exportedAt };
    const suggestion = await suggestFor(file, options);
    const hasMapping = suggestion.text !== '';
    if (output !== undefined && hasMapping) await writeNew(output, suggestion.text);
    if (json) {
      const { text: mapping, ...rest } = suggestion;
      printJson(io, { mapping, ...rest });
      return hasMapping ? exitStatus.done : exitStatus.failed;
    }
    // Not print: it would escape nothing here, and the mapping must stay as it is.
    if (output === undefined) io.stdout.write(suggestion.text);
    tell(io, describe(suggestion, { file, mapping: output, asOf }));
    return hasMapping ? exitStatus.done : exitStatus.failed;
  },
});

async function suggestFor(file: string, options: SuggestOptions): Promise<Suggestion> {
  try {
    return await suggestMapping(file, await readHead(openBytes(file)), options);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(withoutImport(error.message), { cause: error });
  }
}

export const mappingCommands = [suggest];

/** Writes a file that does not exist yet, or nothing. */
async function writeNew(file: string, content: string): Promise<void> {
  const handle = await open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new CommandError(`${file} exists already; choose another name, or delete it first.`)
      : unwritable(file, error);
  });
  try {
    await handle.writeFile(content);
    await handle.close();
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(file, { force: true });
    throw unwritable(file, error);
  }
}

function unwritable(file: string, cause: unknown): CommandError {
  const folder = path.resolve(path.dirname(file));
  return new CommandError(
    isDiskFull(cause)
      ? `No space is left in ${folder}, so ${file} was not written. Free some, or choose a file on another disk with --output.`
      : `${file} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}.`,
    { cause },
  );
}

interface Names {
  readonly file: string;
  readonly mapping: string | undefined;
  readonly asOf: string | undefined;
}

function describe(suggestion: Suggestion, names: Names): string {
  const { known, checks, preview, needsAsOf } = suggestion;
  const { mapping = 'MAPPING' } = names;
  const parts = [
    ...(known === undefined ? [] : [`The columns are those of mappings/${known}.`]),
    ...('problem' in preview ? [preview.problem] : [describePreview(preview, suggestion.currency)]),
    ...(checks.length === 0
      ? []
      : [
          'Please check, and edit the mapping where a guess is wrong:',
          ...checks.map((check) => `  line ${check.line}: ${check.text}`),
        ]),
    ...(needsAsOf && names.asOf === undefined
      ? ['Times count back from the date of the export; until --as-of gives it, from now.']
      : []),
  ];
  const asOf = needsAsOf ? ` --as-of ${names.asOf ?? 'DATE'}` : '';
  const next = `retention import --shop ID --mapping ${mapping}${asOf} ${names.file}`;
  return [...parts, ...(suggestion.text === '' ? [] : [`To import: ${next}`])].join('\n');
}

function describePreview(preview: Preview, currencyCode: string): string {
  const rows = table(preview.first, {
    LINE: ({ line }) => line,
    SUBSCRIPTION: ({ id }) => id,
    STATUS: ({ status }) => status,
    SINCE: ({ createdAt }) => createdAt,
    ENDED: ({ endedAt }) => endedAt,
    PRICE: ({ price }) => price,
    EVERY: ({ interval }) => interval,
    PLAN: ({ plan }) => plan,
  });
  return [
    ...(preview.first.length === 0 ? [] : [rows]),
    describeFigures(preview, currencyCode),
    ...preview.refused
      .slice(0, 5)
      .map(({ rows: count, line, reason }) => `  ${count} refused, first line ${line}: ${reason}`),
  ].join('\n');
}

function show(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}

function describeFigures(preview: Preview, currencyCode: string): string {
  const { subscriptions, customers, plans, statuses, mrr, isWhole } = preview;
  const others = Object.entries(preview.counts)
    .filter(([type]) => type !== 'subscription' && type !== 'plan')
    .map(([type, count]) => show(count, type));
  const what = isWhole ? 'The file has' : 'The beginning of the file has';
  if (subscriptions === 0 && (plans > 0 || others.length > 0)) {
    const list = [...(plans > 0 ? [show(plans, 'plan')] : []), ...others].join(', ');
    return `${what} ${list}${refusalsOf(preview)}.`;
  }
  const byStatus = Object.entries(statuses).map(
    ([status, count]) => `${count.toLocaleString('en-US')} ${status}`,
  );
  return [
    `${what} ${show(subscriptions, 'subscription')}`,
    ` of ${show(customers, 'customer')} on ${show(plans, 'plan')}`,
    byStatus.length > 0 ? `: ${byStatus.join(', ')}` : '',
    `; MRR ${mrr.toFixed(minorDigitsOf(currencyCode) ?? 2)} ${currencyCode}`,
    ...others.map((each) => `; ${each}`),
    `${refusalsOf(preview)}.`,
  ].join('');
}

function refusalsOf({ refusedRows, skipped }: Preview): string {
  const refused = refusedRows > 0 ? `; ${show(refusedRows, 'record')} refused` : '';
  return skipped > 0 ? `${refused}; ${show(skipped, 'row')} skipped` : refused;
}
