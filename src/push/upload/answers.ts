/** What an owner has said about an uploaded file. */
export interface Answers {
  /** By the ids of the questions about columns. */
  readonly questions: readonly (readonly [string, string])[];
  /** The date of the export, in epoch milliseconds. */
  readonly asOf: number | undefined;
  /** Whether types of records that a platform keeps up are imported too. */
  readonly takesOver: boolean;
}

const none: Answers = { questions: [], asOf: undefined, takesOver: false };

/** As they are stored. */
export function writeAnswers({ questions, asOf, takesOver }: Answers): string {
  return JSON.stringify({ questions, asOf, takesOver });
}

export function parseAnswers(text: string): Answers {
  return { ...none, ...JSON.parse(text) };
}
