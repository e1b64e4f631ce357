import { isNamed, wordsOf } from '../../mapping/suggest/names.ts';
import type { Lack } from '../../mapping/suggest/roles.ts';
import { type SourceTable, identifier } from './presets.ts';

/** A table that is joined by a key, or the lines of which rows have several. */
export interface Join {
  readonly alias: string;
  readonly table: SourceTable;
  /** Its column, and the one that is the same, of the table before it. */
  readonly on: string;
  readonly column: string;
  readonly before: Join | undefined;
  /** What of a row says which one is joined; undefined if there can be several. */
  readonly key: string | undefined;
}

/** A column of another table. */
export interface JoinedColumn {
  /** In the query. */
  readonly name: string;
  readonly column: string;
  readonly join: Join;
}

interface Reference {
  readonly column: string;
  readonly target: SourceTable;
  readonly to: string;
}

/** "subscription_plans" as "subscription plan" and "plan". */
function singularsOf({ name }: SourceTable): readonly string[] {
  const words = wordsOf(name)
    .replace(/ies$/, 'y')
    .replace(/([^s])s$/, '$1')
    .split(' ');
  return words.map((_, index) => words.slice(index).join(' '));
}

/** What a table's rows refer to: by declared keys, else by names that can be read in one way only. */
function referencesOf(table: SourceTable, tables: readonly SourceTable[]): readonly Reference[] {
  const others = tables.filter((each) => each !== table);
  return table.columns.flatMap((column): readonly Reference[] => {
    const declared = table.references.find((each) => each.column === column);
    if (declared) {
      const target = others.find(
        ({ schema, name }) => schema === declared.schema && name === declared.table,
      );
      return target ? [{ column, target, to: declared.to }] : [];
    }
    const words = wordsOf(column);
    const byNames = (most: number) =>
      others.flatMap((target): Reference[] => {
        const names = target.schema === table.schema ? singularsOf(target).slice(0, most) : [];
        const isKey = (to: string) =>
          target.types[to] === table.types[column] &&
          names.some((name) => words === `${name} ${wordsOf(to)}` || words === name);
        return target.unique.filter(isKey).map((to) => ({ column, target, to }));
      });
    const [whole, parts] = [byNames(1), byNames(9)];
    const found = whole.length > 0 ? whole : parts;
    return found.length === 1 ? found : [];
  });
}

/** Of columns: other rows than the one that counts now. */
const isOfOther =
  /\b(?:next|pending|scheduled|future|new|previous|prev|old|last|latest|default|trial|parent|original|upgrade|downgrade|addon)\b/;
/** Of tables: what has prices or names that are not those of a plan. */
const isOfPayments = /payment|invoice|charge|transaction|order|refund|event|coupon|discount|promo/;

/** What columns are called that have what rows lack. */
const columnsOf: Readonly<Record<Lack, (words: string, type: string | undefined) => boolean>> = {
  price: (words, type) =>
    (type === 'number' || type === 'money' || type === 'text') &&
    isNamed(words, 'price') &&
    !isNamed(words, 'notPrice'),
  interval: (words) =>
    /interval|period|cycle|frequenc|recurr|cadence|duration|months/.test(words) &&
    !/trial|grace|start|end/.test(words),
  currency: (words) => isNamed(words, 'currency'),
  plan: (words) =>
    /^(?:(?:plan|product|display) )?(?:name|title|nickname|label|nom|nombre|nome)$/.test(words),
  customer: (words) =>
    /^(?:customer|user|account|member|subscriber|client) (?:id|uuid)$/.test(words),
  subscription: (words) => /^(?:subscription|contract) (?:id|uuid)$/.test(words),
};

const maxJoins = 3;
const ofPast =
  /\b(?:deleted|removed|ended|ends|end|expires|until|cancell?ed|active|status|state)\b/;
/** What identifies a line, in the query. */
export const lineId = 'line_id';

/** The columns of other tables that have what a table's rows lack. */
function findIn(
  table: SourceTable,
  tables: readonly SourceTable[],
  lacks: readonly Lack[],
  before?: Join,
  depth = 1,
): readonly JoinedColumn[] {
  const references = referencesOf(table, tables).filter(
    ({ column }) => !isOfOther.test(wordsOf(column)),
  );
  return references.flatMap(({ column, target, to }) => {
    // Which of several rows of a table counts is not known.
    if (references.filter((each) => each.target === target).length > 1) return [];
    const words = wordsOf(target.name);
    const isOfPeople = isNamed(singularsOf(target)[0] ?? '', 'customer');
    const isOfPlans = /plan|price|pricing|product|tier|package/.test(`${words} ${wordsOf(column)}`);
    const mayHave = (lack: Lack) =>
      lack === 'customer' ||
      lack === 'subscription' ||
      (!isOfPeople && !isOfPayments.test(words) && (lack !== 'plan' || isOfPlans));
    const alias = singularsOf(target).at(-1) ?? words;
    const key = before ? (before.key ?? `${before.alias}_${column}`) : column;
    const join = { alias, table: target, on: to, column, before, key };
    const found = target.columns.filter((each) =>
      lacks.some((lack) => mayHave(lack) && columnsOf[lack](wordsOf(each), target.types[each])),
    );
    return [
      ...found.map((each) => ({ name: `${alias}_${each}`, column: each, join })),
      ...(depth < maxJoins && !isOfPeople ? findIn(target, tables, lacks, join, depth + 1) : []),
    ];
  });
}

/** The same, of tables whose columns can be told apart by their names. */
export function findColumns(
  table: SourceTable,
  tables: readonly SourceTable[],
  lacks: readonly Lack[],
): readonly JoinedColumn[] {
  return apart(table, findIn(table, tables, lacks));
}

function apart(table: SourceTable, columns: readonly JoinedColumn[]): readonly JoinedColumn[] {
  const tables = new Map([[table.name, table]]);
  return columns.filter(({ name, join: { alias, table: joined } }) => {
    const known = tables.get(alias) ?? joined;
    tables.set(alias, known);
    return known === joined && !table.columns.includes(name);
  });
}

/** The tables that have several lines for each row of a table. */
export const linesOf = (table: SourceTable, tables: readonly SourceTable[]) =>
  tables.filter(
    (each) =>
      /(?:items?|lines?|products?|add ?ons?)$/.test(wordsOf(each.name)) &&
      referencesOf(each, tables).some(({ target }) => target === table),
  );

/** The lines of a table's rows, if one table has them and their prices. */
export function findLines(
  table: SourceTable,
  tables: readonly SourceTable[],
  lacks: readonly Lack[],
): readonly JoinedColumn[] {
  const others = tables.filter((each) => each !== table);
  const found = linesOf(table, tables).flatMap((each): (readonly JoinedColumn[])[] => {
    const [key, more] = each.key;
    const [reference, another] = referencesOf(each, tables).filter(
      ({ target }) => target === table,
    );
    // Which lines no longer count is for a person to say.
    const hasPast = each.columns.some((name) => ofPast.test(wordsOf(name)));
    if (hasPast || !reference || another || !key || more) return [];
    const { column: on, to: column } = reference;
    const join: Join = {
      alias: 'item',
      table: each,
      on,
      column,
      before: undefined,
      key: undefined,
    };
    const further = findIn(each, others, lacks, join);
    const needed = each.columns.filter(
      (name) =>
        name === key ||
        further.some((one) => one.join.key === `item_${name}`) ||
        isNamed(wordsOf(name), 'quantity') ||
        lacks.some((lack) => columnsOf[lack](wordsOf(name), each.types[name])),
    );
    const nameOf = (name: string) => (name === key ? lineId : `item_${name}`);
    const own = needed.map((name) => ({ name: nameOf(name), column: name, join }));
    const isPriced = [...own, ...further].some(({ column: name, join: { table: of } }) =>
      columnsOf.price(wordsOf(name), of.types[name]),
    );
    return isPriced ? [apart(table, [...own, ...further])] : [];
  });
  return found.length === 1 ? (found[0] ?? []) : [];
}

/** The tables that columns are from, and those between; each after the one before it. */
function joinsOf(columns: readonly JoinedColumn[]): readonly Join[] {
  const withBefore = (join: Join): readonly Join[] =>
    join.before ? [...withBefore(join.before), join] : [join];
  const joins = columns.flatMap(({ join }) => withBefore(join));
  return [...new Map(joins.map((join) => [join.alias, join])).values()];
}

const changed =
  /^(?:last |row |record )?(?:updated|modified|changed)(?: (?:at|on|date|time|timestamp))?$/;
const changedOf = ({ columns }: SourceTable) => columns.find((name) => changed.test(wordsOf(name)));
const anyChanged = 'any_changed_at';

/** A column that says when a row was changed, or one that is joined to it; `text` selects it. */
export function findChanged(table: SourceTable, columns: readonly JoinedColumn[]) {
  const own = changedOf(table);
  if (own === undefined) return undefined;
  if (columns.length === 0) return { name: own, text: undefined };
  const times = joinsOf(columns).map(({ alias, table: joined }) => {
    const column = changedOf(joined);
    const isSame = column !== undefined && joined.types[column] === table.types[own];
    return isSame ? identifier(alias, column) : undefined;
  });
  if (times.includes(undefined) || table.columns.includes(anyChanged)) return undefined;
  const latest = [identifier(table.name, own), ...times].join(', ');
  return { name: anyChanged, text: `greatest(${latest}) as ${identifier(anyChanged)}` };
}

const textOf = ({ name, column, join: { alias } }: JoinedColumn) =>
  `${identifier(alias, column)} as ${identifier(name)}`;

/** A table with what it is joined to; a row stays if that is missing. */
function select(
  root: Pick<Join, 'alias' | 'table'>,
  selected: readonly (string | undefined)[],
  joins: readonly Join[],
): string {
  const { schema, name } = root.table;
  const alias = root.alias === name ? '' : ` ${identifier(root.alias)}`;
  return [
    `select ${selected.filter((each) => each !== undefined).join(',\n')}`,
    `from ${identifier(schema, name)}${alias}`,
    ...joins.map(
      ({ alias: as, table, on, column, before }) =>
        `left join ${identifier(table.schema, table.name)} ${identifier(as)} on ` +
        `${identifier(as, on)} = ${identifier(before?.alias ?? root.alias, column)}`,
    ),
  ].join('\n');
}

/** Reads a table with columns of others. */
export function queryOf(table: SourceTable, columns: readonly JoinedColumn[], latest?: string) {
  const { schema, name } = table;
  return columns.length === 0
    ? `select * from ${identifier(schema, name)}`
    : select(
        { alias: name, table },
        [`${identifier(name)}.*`, ...columns.map(textOf), latest],
        joinsOf(columns),
      );
}

/** Reads all plans: the column that refers to them, and those that follow from it. */
export function planQueryOf(
  key: string,
  columns: readonly JoinedColumn[],
  interval: string,
): string | undefined {
  const ofPlans = columns.filter(({ join }) => join.key === key);
  const [root, ...joins] = joinsOf(ofPlans).filter((join) => join.key === key);
  if (!root) return undefined;
  const id = { name: key, column: root.on, join: root };
  const recurring = ofPlans.find(({ name }) => name === interval);
  // What is sold once is no plan.
  const where =
    recurring && `where ${identifier(recurring.join.alias, recurring.column)} is not null`;
  return [select(root, [id, ...ofPlans].map(textOf), joins), ...(where ? [where] : [])].join('\n');
}
