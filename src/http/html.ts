import { hash } from 'node:crypto';

const characters: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to send. Only this module makes it, so its type is the proof. */
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
    requireQuotes(strings);
    const rest = values.map((value, index) => render(value) + strings[index + 1]);
    return new Html(strings[0] + rest.join(''));
  }

  /** See `style`. */
  static buildStyle(css: string): Html {
    // An element of style has no escapes; its text ends at the first end tag, whatever is around it.
    if (css.includes('</')) throw new TypeError('A style sheet must not contain "</".');
    return new Html(`<style>${css}</style>`);
  }
}

/** What may stand in a template: text, which is escaped, and finished markup. Undefined is nothing. */
export type HtmlValue = string | number | Html | readonly Html[] | undefined;

/**
 * Markup from a template. Whatever is put in is escaped, for text and for quoted attributes alike,
 * unless `html` itself made it. Escaping is no help for an address (`javascript:`) or within a script.
 * @throws TypeError where a value would stand in an attribute without quotes
 */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return Html.build(strings, values);
}

/**
 * A style element, and the expression that lets it through a content security policy.
 * @throws TypeError for a sheet that would end its element
 */
export function style(css: string): { readonly element: Html; readonly source: string } {
  return {
    element: Html.buildStyle(css),
    source: `'sha256-${hash('sha256', css, 'base64')}'`,
  };
}

function render(value: HtmlValue): string {
  if (value instanceof Html) return value.toString();
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => characters[character] as string);
}

/** Templates are checked once: their fixed parts are the same object on every call. */
const checked = new WeakSet<TemplateStringsArray>();

function requireQuotes(strings: TemplateStringsArray): void {
  if (checked.has(strings)) return;
  for (const before of strings.slice(0, -1)) {
    if (/<[^<>]*\s[\w-]+\s*=\s*$/.test(before)) {
      throw new TypeError(`An attribute needs quotes around its value: ${before.slice(-40)}`);
    }
  }
  checked.add(strings);
}
