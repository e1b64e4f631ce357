import type { Act } from '../../src/acts.ts';
import type { Visitor } from '../owner/visitor.ts';

/** What an entry has beside its act: who, the session (or the command), and the target. */
type Entry = readonly [
  who: string | RegExp,
  session: string | RegExp | null,
  target: string | RegExp | null,
];

export interface Done {
  /** The chain in which the entry is; that of the shop by default. */
  readonly chain?: number;
  readonly entry: Entry;
  /** Further acts that have entries with it. */
  readonly also?: readonly Act[];
}

/** What an act is caused by. What it needs before comes first. */
type Cause = () => Promise<() => Promise<Done>>;

export type Causes<Name extends Act> = Readonly<Record<Name, Cause>>;

/** Where acts are caused. */
export interface Place {
  readonly baseUrl: string;
  /** The id of a shop with owners. */
  readonly shop: string;
  /** Runs a command. @returns its standard output */
  command(args: readonly string[], input?: string): Promise<string>;
  /** How entries name the person with an address. */
  idOf(email: string): Promise<string>;
  /** An owner of the shop who has just signed in. */
  owner(): Promise<{ readonly email: string; readonly visitor: Visitor; readonly who: string }>;
}

/** How entries name an owner's session. */
export const session = /^[0-9a-f]{12}$/;
