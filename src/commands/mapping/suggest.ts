import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../../clock.ts';
import { CommandError, UsageError } from '../../errors.ts';
import { isDiskFull } from '../../ingest/disk/disk-full.ts';
import { checkFiles, openBytes } from '../../ingest/files.ts';
import { parseAsOf } from '../../mapping/as-of.ts';
import { readHead, withoutImport } from '../../mapping/suggest/head.ts';
import type { Preview } from '../../mapping/suggest/preview.ts';
import {
  type SuggestOptions,
  type Suggestion,
  suggestMapping,
} from '../../mapping/suggest/suggest.ts';
import { minorDigitsOf } from '../../money.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  formatTable,
  printJson,
  tell,
} from '../command.ts';

const suggest: Command = {
  name: 'mapping suggest',
  synopsis: '[--output FILE] [--as-of TIME] [--currency CUR] [--json] FILE',
  summary: 'suggests a mapping for an export of another platform',
  details: [
    'FILE        CSV or JSON; a name that ends in .gz is unpacked; - is standard input',
    '--output    writes the mapping to a new file instead of standard output',
    '--as-of     the date of the export, 2026-11-01 or a time; by default now',
    '--currency  of the shop (by default that of FILE, or USD)',
    '--json      prints {"mapping","checks","preview",…}; the mapping is a text with comments',
    'Reads up to 16 MiB of FILE, guesses what its columns are, marks what is unsure with CHECK,',
    'and shows what the mapping makes of it. Nothing is stored. See docs/mappings.md.',
  ],
  options: {
    output: { type: 'string' },
    'as-of': { type: 'string' },
    currency: { type: 'string' },
    json: { type: 'boolean' },
  },
  positionals: [1, 1],
  async run({ options, positionals }) {
    const [file = ''] = positionals;
    const { output, 'as-of': given } = options;
    const asOf = typeof given === 'string' ? parseAsOf(given, systemClock) : undefined;
    const currency = currencyOf(options);
    await checkFiles([file]);
    const suggestion = await suggestFor(file, { clock: systemClock, currency, asOf });
    if (typeof output === 'string') await writeNew(output, suggestion.text);
    if (options['json']) {
      const { text, ...rest } = suggestion;
      printJson({ mapping: text, ...rest });
      return exitStatus.done;
    }
    // Not print: it would escape nothing here, and the mapping must stay as it is.
    if (output === undefined) process.stdout.write(suggestion.text);
    tell(describe(suggestion, { file, mapping: output, asOf: given }));
    return exitStatus.done;
  },
};

async function suggestFor(file: string, options: SuggestOptions): Promise<Suggestion> {
  try {
    return await suggestMapping(file, await readHead(openBytes(file)), options);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(withoutImport(error.message), { cause: error });
  }
}

export const mappingCommands: readonly Command[] = [suggest];

/** @throws UsageError if it is no currency */
function currencyOf({ currency }: CommandContext['options']): string | undefined {
  if (typeof currency !== 'string') return undefined;
  const code = currency.toUpperCase();
  if (minorDigitsOf(code) !== undefined) return code;
  throw new UsageError(`--currency must be an ISO 4217 code such as USD, not "${currency}".`);
}

/** Writes a file that does not exist yet, or nothing. */
async function writeNew(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new CommandError(`${file} exists already; choose another name, or delete it first.`)
      : unwritable(file, error);
  });
  try {
    await handle.writeFile(text);
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
  readonly mapping: string | boolean | undefined;
  readonly asOf: string | boolean | undefined;
}

function describe(suggestion: Suggestion, names: Names): string {
  const { known, checks, preview, needsAsOf } = suggestion;
  const mapping = typeof names.mapping === 'string' ? names.mapping : 'MAPPING';
  const parts = [
    ...(known === undefined ? [] : [`The columns are those of mappings/${known}.`]),
    ...('problem' in preview ? [preview.problem] : [describePreview(preview, suggestion.currency)]),
    ...(checks.length === 0
      ? []
      : [
          'Please check, and edit the mapping where a guess is wrong:',
          ...checks.map(({ line, text }) => `  line ${line}: ${text}`),
        ]),
    ...(needsAsOf && names.asOf === undefined
      ? ['Times count back from the date of the export; until --as-of gives it, from now.']
      : []),
  ];
  const asOf = needsAsOf ? ` --as-of ${String(names.asOf ?? 'DATE')}` : '';
  const next = `retention import --shop ID --mapping ${mapping}${asOf} ${names.file}`;
  return [...parts, `To import: ${next}`].join('\n');
}

function describePreview(preview: Preview, currency: string): string {
  const rows = preview.first.map((each) => [
    String(each.line),
    each.id,
    each.status,
    each.createdAt,
    each.endedAt,
    each.price,
    each.interval,
    each.plan,
  ]);
  const headings = ['LINE', 'SUBSCRIPTION', 'STATUS', 'SINCE', 'ENDED', 'PRICE', 'EVERY', 'PLAN'];
  return [
    ...(rows.length === 0 ? [] : [formatTable(headings, rows)]),
    describeFigures(preview, currency),
    ...preview.refused
      .slice(0, 5)
      .map(({ rows: count, line, reason }) => `  ${count} refused, first line ${line}: ${reason}`),
  ].join('\n');
}

function show(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}

function describeFigures(preview: Preview, currency: string): string {
  const { subscriptions, customers, plans, statuses, mrr, skipped, refusedRows, isWhole } = preview;
  const byStatus = Object.entries(statuses).map(
    ([status, count]) => `${count.toLocaleString('en-US')} ${status}`,
  );
  return [
    `${isWhole ? 'The file has' : 'The beginning of the file has'} ${show(subscriptions, 'subscription')}`,
    ` of ${show(customers, 'customer')} on ${show(plans, 'plan')}`,
    byStatus.length > 0 ? `: ${byStatus.join(', ')}` : '',
    `; MRR ${mrr.toFixed(minorDigitsOf(currency) ?? 2)} ${currency}`,
    refusedRows > 0 ? `; ${show(refusedRows, 'record')} refused` : '',
    skipped > 0 ? `; ${show(skipped, 'row')} skipped` : '',
    '.',
  ].join('');
}
