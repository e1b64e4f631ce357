/** What a statement may be given; written to the database as text. */
export type Value = string | number | bigint | boolean | Date | Uint8Array | null;

/** The rows that a statement gave, how many it gave or changed, and what the server calls that. */
export type Answer<Rows extends readonly object[]> = Rows & {
  readonly count: number;
  readonly command: string;
};

/** What a session needs to run a query and to report its result. */
export interface Statement {
  /** With `$1`, `$2`, … for its parameters. */
  readonly text: string;
  readonly parameters: readonly (string | null)[];
  /** Types that the text does not say, by their numbers in the database; 0 where it may decide. */
  readonly types: readonly number[];
  /** Several statements in one text, without parameters. */
  readonly isScript: boolean;
  /** Its caller no longer waits for the result. */
  readonly isAbandoned: boolean;
  /** How often it may still be sent again, where its connection is lost. */
  attemptsLeft: number;
  resolve(rows: Answer<object[]>): void;
  reject(error: Error): void;
}

/** Where queries are run. */
export interface Runner {
  run(statement: Statement): void;
}

/** Of several connections that were lost at once, one after the other may be tried. */
const maxRetries = 3;

type Resolve<Rows extends readonly object[]> = (rows: Answer<Rows>) => void;
type Reject = (error: Error) => void;

/**
 * A statement as a template writes it. It is a promise of its rows, run when somebody first waits for
 * it; put into another template, it is a part of that one's text.
 */
export class Query<Rows extends readonly object[]> implements Promise<Answer<Rows>>, Statement {
  readonly [Symbol.toStringTag] = 'Query';
  readonly isScript = false;
  attemptsLeft = maxRetries;
  readonly #runner: Runner;
  readonly #strings: readonly string[];
  readonly #values: readonly unknown[];
  #compiled: Compiled | undefined;
  #answer: Promise<Answer<Rows>> | undefined;
  /** Whatever rows it gives, it may stand in another query. */
  #resolve: ((rows: never) => void) | undefined;
  #reject: Reject | undefined;
  #isAbandoned = false;

  constructor(runner: Runner, strings: readonly string[], values: readonly unknown[]) {
    this.#runner = runner;
    this.#strings = strings;
    this.#values = values;
  }

  /** @param text with `$1`, `$2`, … for the values */
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

  get parameters(): readonly (string | null)[] {
    return this.#compile().parameters;
  }

  get types(): readonly number[] {
    return this.#compile().types;
  }

  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Runs it, for one who waits in a plainer way than for a promise. */
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

  resolve(rows: Answer<object[]>): void {
    this.#resolve?.(rows as never);
  }

  reject(error: Error): void {
    this.#reject?.(error);
  }

  /** Where it was not sent yet, it will not be. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise
  then<One = Answer<Rows>, Other = never>(
    resolved?: ((rows: Answer<Rows>) => One | PromiseLike<One>) | null,
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    this.#answer ??= new Promise((resolve, reject) => this.run(resolve, reject));
    return this.#answer.then(resolved, rejected);
  }

  catch<Other = never>(
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Answer<Rows> | Other> {
    return this.then(undefined, rejected);
  }

  finally(settled?: (() => void) | null): Promise<Answer<Rows>> {
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
    const texts: string[] = [];
    const values: unknown[] = [];
    this.#writeTo(texts, values);
    return { text: texts.join(''), parameters: values.map(parameterOf), types: typesOf(values) };
  }

  #writeTo(texts: string[], values: unknown[]): void {
    for (const [index, string] of this.#strings.entries()) {
      texts.push(string);
      if (index === this.#values.length) return;
      const value = this.#values[index];
      if (value instanceof Query) value.#writeTo(texts, values);
      else texts.push(`$${values.push(value)}`);
    }
  }
}

interface Compiled {
  readonly text: string;
  readonly parameters: readonly (string | null)[];
  readonly types: readonly number[];
}

/** A template's strings are the same array each time it is run. */
const texts = new WeakMap<readonly string[], string>();

function textOf(strings: readonly string[]): string {
  let text = texts.get(strings);
  if (text === undefined) {
    text = strings.reduce((before, after, index) => `${before}$${index}${after}`);
    texts.set(strings, text);
  }
  return text;
}

function parameterOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
    return String(value);
  }
  throw new TypeError(`A statement was given a value that no database has: ${typeof value}`);
}

const booleanType = 16;
const instantType = 1184;
const none: readonly number[] = [];

/** An instant or a truth in `select $1` is one, too. */
function typesOf(values: readonly unknown[]): readonly number[] {
  if (!values.some((value) => typeof value === 'boolean' || value instanceof Date)) return none;
  return values.map((value) =>
    typeof value === 'boolean' ? booleanType : value instanceof Date ? instantType : 0,
  );
}
