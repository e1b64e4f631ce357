/** A payload as JSON text. Several requests may share it. */
export class JsonText {
  readonly text: string;
  #quoted: string | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The text as a JSON string. */
  get quoted(): string {
    this.#quoted ??= JSON.stringify(this.text);
    return this.#quoted;
  }
}
