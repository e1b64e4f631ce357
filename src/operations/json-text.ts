/** A payload that is JSON text already, as the database wrote it. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
