import { type Html, type HtmlValue, html } from '../../http/html.ts';
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

/** A form that changes something. @param action the address that it is sent to; its page's own if undefined */
export function postForm(
  visit: Visit,
  action: string | undefined,
  content: Html,
  look = 'card',
): Html {
  return html`<form class="${look}" method="post" ${action && html`action="${action}"`}>
    ${token(visit)} ${content}
  </form>`;
}

/** What a form does, beside the way out. */
export const actions = (button: Html | undefined, path: string, otherwise = 'Cancel') =>
  html`<p class="actions">${button} <a href="${path}">${otherwise}</a></p>`;

/** How a field is labelled, and whether the page's alert is about it. */
interface Labelled {
  readonly label: HtmlValue;
  readonly hint?: HtmlValue;
  readonly isInvalid?: boolean;
  /** Where it is invalid: false if another field in error comes before. */
  readonly getsFocus?: boolean;
  /** The id of what says why it is invalid, if that is not the page's alert. */
  readonly problem?: string;
}

interface Field extends Labelled {
  /** Unique on the page. */
  readonly id: string;
  /** Of the parameter, if that is not the id. */
  readonly name?: string;
}

/** @param control of the attributes that say which field it is, and those that say what describes it */
function field(
  { id, name = id, label, hint, problem = problemId, isInvalid = false, getsFocus = true }: Field,
  control: (identity: Html, description: Html) => Html,
): Html {
  const hintId = `${id}-hint`;
  const ids = [...(isInvalid ? [problem] : []), ...(hint === undefined ? [] : [hintId])].join(' ');
  const identity = html`id="${id}" name="${name}"`;
  const description = html`${ids && html`aria-describedby="${ids}"`}
  ${isInvalid && html`aria-invalid="true"`} ${isInvalid && getsFocus && html`autofocus`}`;
  return html`<p class="field">
    <label for="${id}">${label}</label>
    ${control(identity, description)}
    ${hint !== undefined && html`<span class="hint" id="${hintId}">${hint}</span>`}
  </p>`;
}

/** @param more of its attributes */
export function inputField(
  parts: Field & { readonly value?: string | undefined },
  more: Html,
): Html {
  const { value } = parts;
  return field(
    parts,
    (identity, description) =>
      html`<input
        ${identity}
        ${more}
        ${value !== undefined && html`value="${value}"`}
        ${description}
      />`,
  );
}

/** For text of several lines, such as code. */
export function textField(parts: Field & { readonly value: string; readonly rows?: number }): Html {
  return field(
    parts,
    (identity, description) =>
      html`<textarea ${identity} rows="${parts.rows ?? 12}" spellcheck="false" ${description}>
${parts.value}</textarea>`,
  );
}

export type Option = readonly [value: string, label: string, isDisabled?: boolean];

export interface SelectField extends Field {
  /** The option without a value, if there is one. */
  readonly none?: string;
  readonly selected: string | undefined;
  readonly options: readonly Option[];
}

export function selectField({ none, selected, options, ...parts }: SelectField): Html {
  return field(
    parts,
    (identity, description) =>
      html`<select ${identity} ${description}>
        ${none !== undefined && html`<option value="">${none}</option>`}
        ${options.map(([value, text, isDisabled]) => {
          const state = isDisabled ? 'disabled' : value === selected ? 'selected' : '';
          return html`<option value="${value}" ${state}>${text}</option>`;
        })}
      </select>`,
  );
}

/** A choice that can be ticked. @param input its attributes */
export function choiceField(input: Html, label: HtmlValue): Html {
  return html`<label class="choice"><input ${input} /> <span>${label}</span></label>`;
}

/** Whose password a form asks for, where password managers look for it. */
export function usernameField(email: string, id = 'email'): Html {
  const more = html`type="email" autocomplete="username" readonly`;
  return inputField({ id, label: 'Email', value: email }, more);
}

export function passwordField(
  parts: Field,
  autocomplete: 'current-password' | 'new-password',
): Html {
  return inputField(parts, html`type="password" autocomplete="${autocomplete}" required`);
}

/** Where an owner names what a form creates. */
export function nameField(value: string, hint: string, isInvalid: boolean): Html {
  const more = html`required maxlength="${maxNameLength}" autocomplete="off"`;
  return inputField({ id: 'name', label: 'Name', value, hint, isInvalid }, more);
}

export const personNameProblem = `Use one line of at most ${maxNameLength} characters for the name.`;

/** Where owners enter their name. */
export function personNameField(value: string | null | undefined, isInvalid: boolean): Html {
  const hint = 'Optional. Your team sees it beside your address.';
  const more = html`autocomplete="name" maxlength="${maxNameLength}"`;
  return inputField({ id: 'name', label: 'Name', value: value ?? '', hint, isInvalid }, more);
}

/** @param what the form creates @returns what is wrong with its name, for the owner */
export function nameProblem(name: string, what: string): string | undefined {
  if (name === '') return `Give the ${what} a name, so that you can recognise it later.`;
  return name.length > maxNameLength
    ? `Use at most ${maxNameLength} characters for the name.`
    : undefined;
}

/** When an old secret can expire after a rotation, by the hours until then. */
const overlaps = { 0: 'Immediately', 1: 'In 1 hour', 24: 'In 24 hours', 168: 'In 7 days' } as const;

export function overlapChoices(legend: string): Html {
  return html`<fieldset>
    <legend>${legend}</legend>
    ${Object.entries(overlaps).map(([hours, label]) => {
      const checked = hours === '24' ? html`checked` : undefined;
      return choiceField(
        html`type="radio" name="overlap" value="${hours}" required ${checked}`,
        label,
      );
    })}
  </fieldset>`;
}

/** @returns hours; undefined if none of the choices was made */
export function readOverlap(form: URLSearchParams): number | undefined {
  const hours = form.get('overlap') ?? '';
  return Object.hasOwn(overlaps, hours) ? Number(hours) : undefined;
}

/** @param ended what has happened to the old secret without an overlap */
export function overlapRemark(old: string, hours: number, ended: string): string {
  if (hours === 0) return `The old ${old} ${ended}`;
  return `The old ${old} works for ${hours === 1 ? 'another hour' : `another ${hours} hours`}.`;
}

/** The plans of a shop as options. */
export function planOptions(names: ReadonlyMap<number, string>) {
  return [...names].map(([id, name]) => [String(id), name] as const);
}
