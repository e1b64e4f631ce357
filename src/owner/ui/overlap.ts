import { type Html, html } from '../../http/html.ts';

/** When an old secret can expire after a rotation, by the hours until then. */
const choices = { 0: 'Immediately', 1: 'In 1 hour', 24: 'In 24 hours', 168: 'In 7 days' } as const;

export function overlapChoices(legend: string): Html {
  return html`<fieldset>
    <legend>${legend}</legend>
    ${Object.entries(choices).map(
      ([hours, label]) =>
        html`<label class="choice">
          <input
            type="radio"
            name="overlap"
            value="${hours}"
            required
            ${hours === '24' ? html`checked` : undefined}
          />
          <span>${label}</span>
        </label>`,
    )}
  </fieldset>`;
}

/** @returns hours; undefined if none of the choices was made */
export function readOverlap(form: URLSearchParams): number | undefined {
  const hours = form.get('overlap') ?? '';
  return Object.hasOwn(choices, hours) ? Number(hours) : undefined;
}

/** @param ended what has happened to the old secret without an overlap */
export function overlapRemark(old: string, hours: number, ended: string): string {
  if (hours === 0) return `The old ${old} ${ended}`;
  return `The old ${old} works for ${hours === 1 ? 'another hour' : `another ${hours} hours`}.`;
}
