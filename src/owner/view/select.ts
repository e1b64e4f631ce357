import { type Html, html } from '../../http/html.ts';

interface SelectField {
  /** Of the parameter. */
  readonly name: string;
  readonly label: string;
  /** The option without a value. */
  readonly none: string;
  readonly selected: string | undefined;
  readonly options: readonly Option[];
}

type Option = readonly [value: string, label: string, isDisabled?: boolean];

/** A field of a form of filters. */
export function selectField({ name, label, none, selected, options }: SelectField): Html {
  return html`<p class="field">
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
      <option value="">${none}</option>
      ${options.map(([value, text, isDisabled]) => {
        const state = isDisabled ? 'disabled' : value === selected ? 'selected' : '';
        return html`<option value="${value}" ${state}>${text}</option>`;
      })}
    </select>
  </p>`;
}

/** The plans of a shop as options. */
export function planOptions(names: ReadonlyMap<number, string>) {
  return [...names].map(([id, name]) => [String(id), name] as const);
}
