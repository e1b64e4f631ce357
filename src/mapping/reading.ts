/** A value in the import's format. */
export interface Value {
  readonly value: unknown;
  /** The source's own id, if it may be stored. */
  readonly sourceId?: string;
  /** It is not from the source, so that a stored value is kept. */
  readonly isGenerated?: true;
}

/** A value, or the end of a sentence about what is wrong with it. */
export type Reading = Value | { readonly wrong: string };
