/** Longer texts are encoded once for all who share them: anew for each, that costs more than the rest of its answer. */
const maxText = 4000;

/** What a transport makes of a payload, such as the body of its answers. */
type Form = (text: string) => string;

/** A payload as JSON text. Several requests may share it. */
export class JsonText {
  readonly text: string;
  readonly #forms = new Map<Form, string | Buffer>();

  constructor(text: string) {
    this.text = text;
  }

  /** The payload in this form; as bytes if it is long and used again, since one answer is faster with a text. */
  as(form: Form): string | Buffer {
    const known = this.#forms.get(form);
    const isReused = typeof known === 'string' && known.length > maxText;
    const made = isReused ? Buffer.from(known) : (known ?? form(this.text));
    if (made !== known) this.#forms.set(form, made);
    return made;
  }
}
