/** A value in the import's format. */
export interface Value {
  readonly value: unknown;
  /** The source's own id, if it may be stored. */
  readonly sourceId?: string;
}

/** A value, or the end of a sentence about what is wrong with it. */
export type Reading = Value | { readonly wrong: string };
