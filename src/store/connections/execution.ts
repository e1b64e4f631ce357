import { Query as PgQuery } from 'pg';
import type { Parameter, QueryResult, Statement } from './query.ts';

/** The part of the driver's connection that queries write to. */
interface Wire {
  query(text: string): void;
  parse(statement: { name: string; text: string; types: readonly number[] }): void;
  bind(bound: { statement: string; values: readonly Parameter[] }): void;
  describe(what: { type: 'P' }): void;
  execute(): void;
  sync(): void;
}

/** A statement's text and the types of its parameters. */
type Text = Pick<Statement, 'text' | 'types'>;

/** Holds until the end of the transaction. Returns no row. */
export const setting: Text = {
  text: 'select where set_config($1, $2, true) is null',
  types: [],
};

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

interface Column {
  readonly name: string;
  readonly read: (text: string) => unknown;
}

/** A statement as one session knows it; parsed and described only once. */
export interface Prepared {
  readonly name: string;
  isParsed: boolean;
  /** Undefined until the first result. */
  columns: readonly Column[] | undefined;
}

/** Receives the outcome of an execution. */
interface Executor {
  /** Called before anything is written. */
  willWrite(): void;
  done(execution: Execution, rows: QueryResult<object[]>): void;
  failed(execution: Execution, error: Error): void;
}

const toText = (text: string) => text;
const toInstant = (text: string) => new Date(text);

/** By type OID. Exact decimals stay text, to avoid floating point. */
const readers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [16, (text: string): unknown => text === 't'],
  // Ids are at most 2^53 - 1.
  ...[20, 21, 23, 26, 700, 701].map((type) => [type, Number] as const),
  ...[114, 3802].map((type) => [type, JSON.parse] as const),
  ...[1082, 1114, 1184].map((type) => [type, toInstant] as const),
]);

/** The driver's query class with the methods that it calls, which its types omit. It takes 5 µs to copy an object. */
const DriverQuery = PgQuery as unknown as new (text: string) => object;

/**
 * One run of a statement on a session. The driver's own class would describe the columns each time and emit
 * an event per row, which is half the cost of a short statement.
 */
export class Execution extends DriverQuery {
  readonly statement: Statement;
  readonly prepared: Prepared | undefined;
  readonly #setting: Prepared | undefined;
  /** Without a callback the driver would emit failures as events, which have no listener. */
  readonly callback = () => {};
  readonly #executor: Executor;
  #columns: readonly Column[];
  readonly #rows: object[] = [];
  #command = '';

  constructor(
    statement: Statement,
    prepared: Prepared | undefined,
    preparedSetting: Prepared | undefined,
    executor: Executor,
  ) {
    super(statement.text);
    this.#setting = preparedSetting;
    this.statement = statement;
    this.prepared = prepared;
    this.#executor = executor;
    this.#columns = prepared?.columns ?? [];
  }

  submit(wire: Wire): null {
    const { statement, prepared } = this;
    this.#executor.willWrite();
    if (prepared === undefined) {
      wire.query(statement.text);
      return null;
    }
    if (this.#setting && statement.setting) {
      bind(wire, this.#setting, setting, statement.setting);
      wire.execute();
    }
    bind(wire, prepared, statement, statement.parameters);
    if (prepared.columns === undefined) wire.describe({ type: 'P' });
    wire.execute();
    wire.sync();
    return null;
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      read: readers.get(dataTypeID) ?? toText,
    }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < this.#columns.length; index += 1) {
      const { name, read } = this.#columns[index] as Column;
      const text = fields[index] as string | null;
      row[name] = text === null ? null : read(text);
    }
    this.#rows.push(row);
  }

  /** @param text such as `UPDATE 3`; for an insert there is a zero before the count */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#command = text;
  }

  handleEmptyQuery(): void {}

  handleReadyForQuery(): void {
    if (this.prepared) this.prepared.columns ??= this.#columns;
    const command = this.#command;
    const count = Number(command.slice(command.lastIndexOf(' ') + 1)) || 0;
    this.#executor.done(this, Object.assign(this.#rows, { command, count }));
  }

  handleError(error: Error): void {
    this.#executor.failed(this, error);
  }

  handleCopyInResponse(connection: { sendCopyFail(reason: string): void }): void {
    connection.sendCopyFail('rows are not sent this way');
  }

  handleCopyData(): void {}
  handlePortalSuspended(): void {}
}

function bind(
  wire: Wire,
  prepared: Prepared,
  { text, types }: Text,
  values: readonly Parameter[],
): void {
  if (!prepared.isParsed) {
    wire.parse({ name: prepared.name, text, types });
    prepared.isParsed = true;
  }
  wire.bind({ statement: prepared.name, values });
}
