/** What an owner has said about an uploaded file. */
export interface Answers {
  /** By the ids of the questions about columns. */
  readonly questions: readonly (readonly [string, string])[];
  /** The date of the export, in epoch milliseconds. */
  readonly asOf: number | undefined;
  /** Whether types of records that a platform keeps up are imported too. */
  readonly takesOver: boolean;
  /** Whether an answer is another one than was guessed, so that it is worth remembering. */
  readonly isCorrected: boolean;
  /** Whether they are those of an earlier file with the same headings. */
  readonly isRemembered: boolean;
}

const none: Answers = {
  questions: [],
  asOf: undefined,
  takesOver: false,
  isCorrected: false,
  isRemembered: false,
};

/** @param text JSON, as they are stored */
export function parseAnswers(text: string): Answers {
  return { ...none, ...JSON.parse(text) };
}
