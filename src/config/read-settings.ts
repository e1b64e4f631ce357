export type Env = Readonly<Record<string, string | undefined>>;

/** A variable of the environment. An empty one counts as unset. */
interface Setting<T = unknown> {
  /** What it is, for people: Markdown, whose links are relative to `docs/`. */
  readonly about: string;
  /** What holds while it is unset, for people; by default, the fallback. */
  readonly unset?: string;
  readonly fallback?: T;
  /** Returns undefined for an invalid text; by default, every text is valid. */
  readonly parse?: (text: string) => T | undefined;
  /** Completes "must be …". Never quotes a secret. */
  readonly expected?: string | ((text: string) => string);
}

export type Settings = Readonly<Record<string, Setting>>;

type Parsed<S> = S extends { parse: (text: string) => infer T } ? NonNullable<T> : string;
type Fallback<S> = S extends { fallback: infer T } ? T : undefined;
export type Values<S> = { readonly [Name in keyof S]: Parsed<S[Name]> | Fallback<S[Name]> };

/**
 * Reads settings from the environment.
 * @param problems gets a sentence for each that is invalid
 * @param variableOf names the variable of a setting; undefined if there is none
 */
export function readSettings<S extends Settings>(
  settings: S,
  env: Env,
  problems: string[],
  variableOf = (name: string): string | undefined => name,
): Values<S> {
  const read = (name: string, { fallback, parse, expected }: Setting) => {
    const variable = variableOf(name);
    const text = variable && env[variable]?.trim();
    if (text === undefined || text === '') return fallback;
    const value = parse ? parse(text) : text;
    if (value === undefined) {
      problems.push(
        `${variable} must be ${typeof expected === 'function' ? expected(text) : expected}.`,
      );
    }
    return value ?? fallback;
  };
  return Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, read(name, setting)]),
  ) as Values<S>;
}
