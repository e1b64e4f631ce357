/** A parameter value; sent to the database as text, but bytes as they are: the binary form of the parameter's type. */
export type Value = string | number | bigint | boolean | Date | Buffer | null;

/** A parameter as it is sent. */
export type Parameter = string | Buffer | null;

/** The rows of a statement, the number of rows returned or changed, and the command tag's verb. */
export type QueryResult<Rows extends readonly object[]> = Rows & {
  readonly count: number;
  readonly command: string;
};

export type Setting = readonly [name: string, value: string];

/** What a session needs to run a statement and report its result. */
export interface Statement {
  /** Parameters are `$1`, `$2`, … */
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** Type OIDs of the parameters; 0 lets the database infer the type. */
  readonly types: readonly number[];
  /** Several statements in one text, without parameters. */
  readonly isScript: boolean;
  /** The name and value of a setting of the server for this statement alone. */
  setting?: Setting | undefined;
  /** The caller no longer waits for the result. */
  readonly isAbandoned: boolean;
  /** How often it may still be retried if its connection is lost. */
  attemptsLeft: number;
  resolve(rows: QueryResult<object[]>): void;
  reject(error: Error): void;
}

/** Runs statements. */
export interface Runner {
  run(statement: Statement): void;
}

/** If several connections are lost at once, a retry may hit another of them. */
const maxRetries = 3;

type Resolve<Rows extends readonly object[]> = (rows: QueryResult<Rows>) => void;
type Reject = (error: Error) => void;

/**
 * A statement built from a template. It is a promise of its rows that runs when first awaited; inside
 * another template it becomes part of that query's text.
 */
export class Query<Rows extends readonly object[]>
  implements Promise<QueryResult<Rows>>, Statement
{
  readonly [Symbol.toStringTag] = 'Query';
  readonly isScript = false;
  setting: Setting | undefined;
  attemptsLeft = maxRetries;
  readonly #runner: Runner;
  readonly #strings: readonly string[];
  readonly #values: readonly unknown[];
  #compiled: Compiled | undefined;
  #result: Promise<QueryResult<Rows>> | undefined;
  /** Takes `never`, so that queries with any rows can be part of another query. */
  #resolve: ((rows: never) => void) | undefined;
  #reject: Reject | undefined;
  #isAbandoned = false;

  constructor(runner: Runner, strings: readonly string[], values: readonly unknown[]) {
    this.#runner = runner;
    this.#strings = strings;
    this.#values = values;
  }

  /** @param text uses `$1`, `$2`, … for the values */
  static of<Rows extends readonly object[]>(
    runner: Runner,
    text: string,
    values: readonly unknown[],
  ): Query<Rows> {
    const query = new Query<Rows>(runner, [text], values);
    const parameters = values.map(parameterOf);
    query.#compiled = { text, parameters, types: typesOf(values) };
    return query;
  }

  get text(): string {
    return this.#compile().text;
  }

  get parameters(): readonly Parameter[] {
    return this.#compile().parameters;
  }

  get types(): readonly number[] {
    return this.#compile().types;
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Runs the query with callbacks, which cost less than a promise. */
  run(resolve: Resolve<Rows>, reject: Reject): void {
    this.#resolve = resolve;
    this.#reject = reject;
    try {
      this.#compile();
      this.#runner.run(this);
    } catch (error) {
      reject(error as Error);
    }
  }

  resolve(rows: QueryResult<object[]>): void {
    this.#resolve?.(rows as never);
  }

  reject(error: Error): void {
    this.#reject?.(error);
  }

  /** Skips the query if it has not been sent yet. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<One = QueryResult<Rows>, Other = never>(
    resolved?: ((rows: QueryResult<Rows>) => One | PromiseLike<One>) | null,
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    this.#result ??= new Promise((resolve, reject) => this.run(resolve, reject));
    return this.#result.then(resolved, rejected);
  }

  catch<Other = never>(
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<QueryResult<Rows> | Other> {
    return this.then(undefined, rejected);
  }

  finally(settled?: (() => void) | null): Promise<QueryResult<Rows>> {
    return this.then((rows) => rows).finally(settled);
  }

  #compile(): Compiled {
    this.#compiled ??= this.#values.some((value) => value instanceof Query)
      ? this.#compileWhole()
      : {
          text: textOf(this.#strings),
          parameters: this.#values.map(parameterOf),
          types: typesOf(this.#values),
        };
    return this.#compiled;
  }

  #compileWhole(): Compiled {
    const values: unknown[] = [];
    const known = this.#find(wholeTexts, values);
    known.text ??= this.#textFrom({ count: 0 });
    return { text: known.text, parameters: values.map(parameterOf), types: typesOf(values) };
  }

  /** Collects the values, and finds where the text of these templates in this order is kept. */
  #find(before: WholeText, values: unknown[]): WholeText {
    const strings = this.#strings;
    let found = nextOf(before, strings.length === 1 ? (strings[0] as string) : strings);
    for (const value of this.#values) {
      if (value instanceof Query) {
        found = value.#find(found, values);
      } else {
        values.push(value);
        found = nextOf(found, undefined);
      }
    }
    return found;
  }

  #textFrom(parameters: { count: number }): string {
    return this.#strings.reduce((text, after, index) => {
      const value = this.#values[index - 1];
      return `${text}${value instanceof Query ? value.#textFrom(parameters) : `$${(parameters.count += 1)}`}${after}`;
    });
  }
}

/** The text of templates within templates, which a look-up by their strings finds instead of joining them again. */
interface WholeText {
  text: string | undefined;
  /** By the strings of the next template, or undefined for a value. */
  readonly next: Map<readonly string[] | string | undefined, WholeText>;
}

const wholeTexts: WholeText = { text: undefined, next: new Map() };

function nextOf({ next }: WholeText, step: readonly string[] | string | undefined): WholeText {
  let found = next.get(step);
  if (!found) next.set(step, (found = { text: undefined, next: new Map() }));
  return found;
}

interface Compiled {
  readonly text: string;
  readonly parameters: readonly Parameter[];
  readonly types: readonly number[];
}

/** A template's strings are the same array on every run. */
const texts = new WeakMap<readonly string[], string>();

function textOf(strings: readonly string[]): string {
  let text = texts.get(strings);
  if (text === undefined) {
    text = strings.reduce((before, after, index) => `${before}$${index}${after}`);
    texts.set(strings, text);
  }
  return text;
}

function parameterOf(value: unknown): Parameter {
  if (typeof value === 'string') return value;
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Buffer) return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
    return String(value);
  }
  throw new TypeError(`A query parameter has an unsupported type: ${typeof value}`);
}

const booleanType = 16;
const instantType = 1184;
const none: readonly number[] = [];

/** Without these types, `select $1` would return instants and booleans as text. */
function typesOf(values: readonly unknown[]): readonly number[] {
  if (!values.some((value) => typeof value === 'boolean' || value instanceof Date)) return none;
  return values.map((value) =>
    typeof value === 'boolean' ? booleanType : value instanceof Date ? instantType : 0,
  );
}
