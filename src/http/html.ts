import { hash } from 'node:crypto';

const characters: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to send: only this module can create it. */
export class Html {
  readonly #markup: string;

  private constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }

  /** See `html`. */
  static build(strings: TemplateStringsArray, values: readonly HtmlValue[]): Html {
    const texts = textsOf(strings);
    const rest = values.map((value, index) => render(value) + texts[index + 1]);
    return new Html(texts[0] + rest.join(''));
  }

  /** See `style`. */
  static buildStyle(css: string): Html {
    // Nothing can be escaped in a style element; its text ends at the first end tag.
    if (css.includes('</')) throw new TypeError('A style sheet must not contain "</".');
    return new Html(`<style>${css}</style>`);
  }
}

/** A value in a template: text is escaped, Html is inserted as it is, and undefined and false are omitted. */
export type HtmlValue = string | number | Html | readonly Html[] | undefined | false;

/**
 * Builds markup from a template and escapes its values, unless they are Html. Safe in text and in quoted
 * attributes, but not for URLs (`javascript:`) or in scripts. Lines of the template lose their indentation; values
 * stay as they are.
 * @throws TypeError for a value in an unquoted attribute
 */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return Html.build(strings, values);
}

/**
 * A style element, and the source expression that allows it in a content security policy.
 * @throws TypeError for a style sheet that would close its element
 */
export function style(css: string): { readonly element: Html; readonly source: string } {
  return {
    element: Html.buildStyle(css),
    source: `'sha256-${hash('sha256', css, 'base64')}'`,
  };
}

function render(value: HtmlValue): string {
  if (value instanceof Html) return value.toString();
  if (value === undefined || value === false) return '';
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => characters[character] as string);
}

/** What is between the values of each template, whose strings array is the same object on every call. */
const known = new WeakMap<TemplateStringsArray, readonly string[]>();

/** A template without its indentation, which would be a third of a page. */
function textsOf(strings: TemplateStringsArray): readonly string[] {
  const found = known.get(strings);
  if (found) return found;
  for (const before of strings.slice(0, -1)) {
    if (/<[^<>]*\s[\w-]+\s*=\s*$/.test(before)) {
      throw new TypeError(`An attribute needs quotes around its value: ${before.slice(-40)}`);
    }
  }
  const texts = strings.map((text) => text.replace(/\s*\n\s*/g, '\n').replace(/\n(?=\/?>)/g, ''));
  known.set(strings, texts);
  return texts;
}
