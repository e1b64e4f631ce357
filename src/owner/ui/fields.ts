import { type Html, html } from '../../http/html.ts';
import { maxNameLength } from '../../vocabulary.ts';
import type { Visit } from '../site.ts';
import { formToken } from '../cookies.ts';
import { problemId } from './elements.ts';

/** The hidden CSRF token that every form needs. */
export function token(visit: Visit): Html {
  return html`<input type="hidden" name="token" value="${formToken(visit.formSecret)}" />`;
}

type Pair = readonly [name: string, value: string | undefined];

/** Hidden fields of a form, such as the parameters of the address that it keeps. */
export function hiddenFields(pairs: Iterable<Pair>): Html[] {
  return [...pairs].flatMap(([name, value]) =>
    value === undefined ? [] : html`<input type="hidden" name="${name}" value="${value}" />`,
  );
}

/**
 * The attributes of a field that the page's alert is about; else only its hint.
 * @param getsFocus false if another field in error comes before
 */
export function describedBy(
  hintId: string | undefined,
  isInvalid: boolean,
  getsFocus = isInvalid,
): Html | undefined {
  if (isInvalid) {
    const ids = hintId === undefined ? problemId : `${problemId} ${hintId}`;
    const focus = getsFocus ? html`autofocus` : undefined;
    return html`aria-describedby="${ids}" aria-invalid="true" ${focus}`;
  }
  return hintId === undefined ? undefined : html`aria-describedby="${hintId}"`;
}

/** Whose password a form asks for, where password managers look for it. */
export function usernameField(email: string): Html {
  return html`<p class="field">
    <label for="email">Email</label>
    <input id="email" name="email" type="email" autocomplete="username" readonly value="${email}" />
  </p>`;
}

interface PasswordField {
  readonly name: string;
  readonly label: string;
  readonly autocomplete: 'current-password' | 'new-password';
  readonly hint?: string;
  /** Whether the page's problem is about it. */
  readonly isInvalid?: boolean;
}

export function passwordField(field: PasswordField): Html {
  const { name, label, autocomplete, hint, isInvalid = false } = field;
  return html`<p class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="password"
      autocomplete="${autocomplete}"
      required
      ${describedBy(hint === undefined ? undefined : `${name}-hint`, isInvalid)}
    />
    ${hint === undefined ? undefined : html`<span class="hint" id="${name}-hint">${hint}</span>`}
  </p>`;
}

/**
 * Where an owner names what a form creates.
 * @param isInvalid whether the page's problem is about it
 */
export function nameField(name: string, hint: string, isInvalid: boolean): Html {
  return html`<p class="field">
    <label for="name">Name</label>
    <input
      id="name"
      name="name"
      required
      maxlength="${maxNameLength}"
      autocomplete="off"
      value="${name}"
      ${describedBy('name-hint', isInvalid)}
    />
    <span class="hint" id="name-hint">${hint}</span>
  </p>`;
}

/** @param what the form creates @returns what is wrong with its name, for the owner */
export function nameProblem(name: string, what: string): string | undefined {
  if (name === '') return `Give the ${what} a name, so that you can recognise it later.`;
  return name.length > maxNameLength
    ? `Use at most ${maxNameLength} characters for the name.`
    : undefined;
}

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
