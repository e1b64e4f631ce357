import { hash } from 'node:crypto';
import path from 'node:path';
import { readFileSync } from 'node:fs';
import { prepareAnswer } from '../compression.ts';
import type { Route } from '../shell.ts';
import { type Html, html } from '../html.ts';

/** A style sheet, a script or a picture of pages. */
export interface Asset {
  readonly kind: keyof typeof mediaTypes;
  /** Contains a hash of the content, so that browsers may cache it permanently. */
  readonly path: string;
  readonly route: Route;
}

const mediaTypes = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

/**
 * @param folder of its address, such as `/app`
 * @param file its name, such as `style.css`
 */
export function createAsset(folder: string, file: string, text: string): Asset {
  const { name, ext } = path.parse(file);
  const kind = ext.slice(1) as keyof typeof mediaTypes;
  const url = `${folder}/${name}-${hash('sha256', text).slice(0, 12)}.${kind}`;
  const headers = {
    'content-type': mediaTypes[kind],
    'cache-control': 'public, max-age=31536000, immutable',
  };
  const handle = prepareAnswer(headers, text);
  return { kind, path: url, route: { method: 'GET', url, isAsset: true, handle } };
}

/** A loop that has nearly closed around a point: who is kept comes round again. */
const loop = 'M20.2 8.4A9 9 0 1 0 21 12.6';
const head = 'm16.4 9.2 4.4-.3.5-4.4';

const drawMark = (colour: string, width: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"><path d="${loop}"/><path d="${head}"/><circle cx="12" cy="12" r="2.5" fill="${colour}"/></svg>`;

/** The mark of the service, which a style sheet draws. */
export const mark = html`<i class="mark"></i>`;

/** The mark as a picture of its own, readable on light and dark backgrounds. */
export const icon = drawMark('#2f7de1', 3);

/** What a data URL may have unescaped. */
const plain = /%(?:20|2C|2F|3A|3D)/g;

/** A picture in an address. */
export const dataUrl = (svg: string) =>
  `data:image/svg+xml,${encodeURIComponent(svg).replace(plain, decodeURIComponent)}`;

export const iconFile = createAsset('', 'icon.svg', icon);

/** The mark as the icon of a page: a file, since it would be a seventieth of each. */
export const iconLink = html`<link rel="icon" href="${iconFile.path}" />`;

/** In the head: a page is painted once it has all arrived. In parts, ends of rows would move and columns would grow. */
export const waitForEnd = html`<link rel="expect" href="#end" blocking="render" />`;
export const endOfPage = html`<div id="end"></div>`;

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/**
 * What the style sheets of all pages begin with: custom properties for the colours, sizes and fonts, light and
 * dark, and the rules that do not depend on the page.
 */
export const pageStyle =
  read('tokens.css') +
  read('base.css') +
  `.mark{--drawing:url("${dataUrl(drawMark('black', 2.5))}")}\n`;

interface Choice {
  readonly value: string;
  readonly label: string;
}

/**
 * What a fieldset holds that chooses between contents, of which CSS shows one: radio buttons, so that it takes no
 * script.
 * @param name unique on the page
 * @param legend for screen readers
 * @param chosen the first if there is none with this value
 */
export function tabChoices(
  name: string,
  legend: string,
  choices: readonly Choice[],
  chosen?: string,
): Html {
  const place = choices.findIndex(({ value }) => value === chosen);
  return html`<legend class="visually-hidden">${legend}</legend>
    ${choices.map(
      ({ value, label }, index) =>
        html`<label
          ><input
            type="radio"
            name="${name}"
            value="${value}"
            autocomplete="off"
            ${index === Math.max(place, 0) && html`checked`}
          /><span>${label}</span></label
        >`,
    )}`;
}

/**
 * For pages: nothing but what the service itself serves, and no inline code.
 * @param forms where their forms may be sent
 */
export function contentSecurityPolicy(forms: "'self'" | "'none'"): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    // For results while typing.
    "connect-src 'self'",
    // For the icon, and what style sheets draw.
    "img-src 'self' data:",
    "base-uri 'none'",
    `form-action ${forms}`,
    "frame-ancestors 'none'",
  ].join('; ');
}
