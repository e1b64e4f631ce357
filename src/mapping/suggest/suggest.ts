import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../clock.ts';
import { CommandError } from '../../errors.ts';
import { minorDigitsOf } from '../../money.ts';
import { currenciesOf, isSignOf } from '../amounts.ts';
import { needsAsOf, parseMapping, withoutComments } from '../read.ts';
import { type Answers, type Relations, noAnswers, noRelations } from './answers.ts';
import { type Question, questionsOf } from './questions.ts';
import { type BuildContext, buildMapping, inputOf } from './build.ts';
import { type ColumnView, usesOfSubscriptions, viewColumns } from './columns.ts';
import { type ColumnUse, Commented, checkMark, createNotes, writeDocument } from './document.ts';
import { type RowKind, findKind } from './kind.ts';
import { type Built, buildSimple } from './simple.ts';
import type { Head } from './head.ts';
import { type Preview, previewMapping } from './preview.ts';
import { type Lack, type Roles, findRoles, lacksOf } from './roles.ts';
import { type Table, readTable } from './table.ts';
import { columnsOf, createMakers } from '../open.ts';
import type { RecordMaker } from '../records.ts';

/** A mapping for a file, and what it makes of it. */
export interface Suggestion {
  /** The mapping file's text, with comments; empty where the rows are nothing that an import can store. */
  readonly text: string;
  /** The shipped mapping whose export this is. */
  readonly known: string | undefined;
  /** The type of record that rows give; undefined for a known export, and where there is none. */
  readonly kind: RowKind['type'];
  /** Why, or why there is none, in a sentence. */
  readonly reason: string;
  /** What each column is taken for, and why; none of a known export. */
  readonly columns: readonly ColumnUse[];
  /** All columns, with what they could be, for a person who is to say it. */
  readonly views: readonly ColumnView[];
  /** The lines of the mapping that somebody should look at. */
  readonly checks: readonly { readonly line: number; readonly text: string }[];
  /** What to ask a person, instead of having the lines edited; none about a known export. */
  readonly questions: readonly Question[];
  /** What the rows of subscriptions lack; nothing of a known export. */
  readonly lacks: readonly Lack[];
  /** Whether an import needs the date of the export. */
  readonly needsAsOf: boolean;
  readonly currency: string;
  /** Codes and signs of other currencies, whose amounts do not count; undefined if the file names no currency. */
  readonly foreign: readonly string[] | undefined;
  /** A heading that several columns of a table have. */
  readonly doubled: string | undefined;
  /** Why there is none, if the mapping lacks what an import needs. */
  readonly preview: Preview | { readonly problem: string };
}

export interface SuggestOptions {
  readonly clock: Clock;
  /** Of the shop; by default that of the file, or USD. */
  readonly currency?: string | undefined;
  /** The date of the export, in epoch milliseconds; by default now. */
  readonly asOf?: number | undefined;
  /** To the questions of an earlier suggestion for the same file. */
  readonly answers?: Answers;
  /** Of the table that the rows are from. */
  readonly relations?: Relations;
}

/**
 * Suggests a mapping for a file.
 * @param file its name, for messages
 * @throws CommandError if it has no rows, or one column only
 */
export async function suggestMapping(
  file: string,
  head: Head,
  options: SuggestOptions,
): Promise<Suggestion> {
  const { clock, currency: given, asOf = clock.now() } = options;
  const { answers = noAnswers, relations = noRelations } = options;
  const table = await readTable(file, head, relations.mayBeEmpty);
  const known = await findKnown(table, clock);
  const minorDigits = minorDigitsOf(given ?? '') ?? 2;
  const context = { now: asOf, minorDigits, answers, relations };
  const roles = findRoles(table, context);
  if (!known && table.columns.length === 1) {
    throw new CommandError(
      `${file} has one column only. A table of subscriptions has a row for each, with columns for its customer, when it began, its status or end, and its price.`,
    );
  }
  const currency = given ?? currencyOf(roles) ?? 'USD';
  const notes = createNotes(table.columns);
  const kind = known
    ? { type: undefined, reason: '', isUnsure: false }
    : findKind(table, roles, answers);
  const { document, problem, choices } = known
    ? { document: documentOfKnown(known, table), problem: undefined, choices: {} }
    : documentFor(table, roles, { ...context, currency, kind, notes });
  const text = document === undefined ? '' : writeDocument(document);
  const uses = known ? usesOfKnown(text, table) : notes.uses();
  const signs = signsOf(roles);
  const result = {
    text,
    known: known?.name,
    kind: kind.type,
    reason: kind.reason,
    columns: known ? [] : uses,
    views: viewColumns(table.columns, uses, choices),
    checks: checksIn(text),
    questions: known ? [] : questionsOf(table, roles, { ...context, kind }),
    lacks: known ? [] : lacksOf(roles),
    currency,
    foreign: signs.length === 0 ? undefined : signs.filter((sign) => !isSignOf(sign, currency)),
    doubled: known ? undefined : table.doubled,
    needsAsOf: false,
  };
  if (problem !== undefined) return { ...result, preview: { problem } };
  try {
    const mapping = parseMapping('the mapping', text);
    const shop = { id: 1, currency, minorDigits: minorDigitsOf(currency) ?? 2 };
    const until = Math.min(asOf, clock.now());
    const preview = await previewMapping(file, head, mapping, { shop, clock, asOf: until });
    return { ...result, needsAsOf: needsAsOf(mapping), preview };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'UsageError') throw error;
    return { ...result, preview: { problem: error.message } };
  }
}

/** A mapping for rows of this kind. */
function documentFor(table: Table, roles: Roles, context: BuildContext): Built {
  const { type, reason, isUnsure } = context.kind;
  if (type && type !== 'subscription') return buildSimple(table, roles, context);
  return {
    document: type || isUnsure ? buildMapping(table, roles, context) : undefined,
    problem: type ? undefined : reason,
    choices: usesOfSubscriptions(table, roles, context),
  };
}

/** A known export: its mapping reads what it needs, and nothing is asked. */
function usesOfKnown(text: string, { columns }: Table): ColumnUse[] {
  return columns.map(({ name }) => {
    const isRead = text.includes(JSON.stringify(name)) || text.includes(`"${name}.`);
    const evidence = isRead ? 'the mapping for this export reads it' : 'an import does not need it';
    return { name, role: isRead ? 'known' : undefined, confidence: 'sure', evidence };
  });
}

/** The lines of a mapping that somebody should look at. */
function checksIn(mapping: string): Suggestion['checks'] {
  const mark = `// ${checkMark}: `;
  return mapping.split('\n').flatMap((text, index) => {
    const isMarked = text.includes(mark);
    return isMarked ? [{ line: index + 1, text: text.replace(mark, '').trim() }] : [];
  });
}

/** All that the file says about its currency. */
function signsOf({ currency, price }: Roles): string[] {
  return [...(currency?.values ?? []), ...(price?.format.signs ?? [])];
}

/** What the file says: the code that most rows have, or what the sign of most amounts is likely to mean. */
function currencyOf({ currency, price }: Roles): string | undefined {
  const [[code] = []] = [...(currency?.counts ?? [])].toSorted((a, b) => b[1] - a[1]);
  const [sign] = (price?.format.signs ?? []).flatMap((each) => currenciesOf(each)?.[0] ?? []);
  return code?.toUpperCase() ?? sign;
}

/** The shipped mapping, for the delimiter and encoding of this file. */
function documentOfKnown({ name, document }: KnownMapping, { input }: Table): object {
  const about = new Commented(document['about'], [`recognised by its columns: mappings/${name}`]);
  return { ...document, about, input: inputOf(input) };
}

/** A mapping that comes with the service. */
interface KnownMapping {
  /** Its file's name, such as "stripe-subscriptions.json". */
  readonly name: string;
  readonly document: Readonly<Record<string, unknown>>;
}

const folder = path.join(import.meta.dirname, '../../../mappings');
/** How many rows are tried. */
const triedRows = 200;
/** The share of rows that a mapping must make records of. */
const leastShare = 0.25;

/** The shipped mapping that fits a table best, if one does. */
async function findKnown(table: Table, clock: Clock): Promise<KnownMapping | undefined> {
  const isCsv = table.input.format === 'csv';
  const score = isCsv ? columnsFound : recordsMade;
  const shop = { id: 1, currency: 'USD', minorDigits: 2 };
  let best: KnownMapping | undefined;
  let most = 0;
  for (const name of (await readdir(folder)).toSorted()) {
    if (!name.endsWith('.json')) continue;
    const text = await readFile(path.join(folder, name), 'utf8');
    const mapping = parseMapping(name, text);
    if (isCsv !== (mapping.input.format === 'csv')) continue;
    // Whatever the shop's currency is, the file is what it is.
    const records = mapping.records.map((record) => ({ ...record, currency: undefined }));
    const makers = createMakers({ ...mapping, records }, { shop, clock, asOf: clock.now() });
    const points = score(table, makers);
    if (points <= most) continue;
    most = points;
    best = { name, document: JSON.parse(withoutComments(text)) as KnownMapping['document'] };
  }
  return best;
}

/** A CSV file has all columns that its mapping needs, even if they are empty. */
function columnsFound({ columns }: Table, makers: readonly RecordMaker[]): number {
  const names = new Set(columns.map(({ name }) => name));
  const isThere = (each: readonly string[]) => each.every((name) => names.has(name));
  const { required, choices } = columnsOf(makers);
  const fits = isThere(required) && choices.every((choice) => choice.some(isThere));
  return fits ? required.length + choices.length : 0;
}

/**
 * JSON leaves out what is empty, so the test is whether the mapping makes records of the rows that it
 * applies to, and applies to a good part of them: lists have rows that no record is made of, such as drafts.
 */
function recordsMade({ rows }: Table, makers: readonly RecordMaker[]): number {
  const tried = rows.slice(0, triedRows);
  let made = 0;
  let failed = 0;
  for (const row of tried) {
    const results = makers
      .filter((each) => each.applies(row.values))
      .map((each) => each.make([row]));
    if (results.some((result) => 'record' in result)) made += 1;
    else if (results.length > 0) failed += 1;
  }
  return made > failed && made >= tried.length * leastShare ? made : 0;
}
