import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { sourcesLink } from '../ui/elements.ts';
import { plainTable } from '../ui/table.ts';

/** A page without data: what brings some, in front of the page with the figures of a made-up shop. */
export function emptyPage(card: Html, sample: Html): Html {
  return html`<div class="empty">
    <section class="card">${card}</section>
    ${ghost(sample)}
  </div>`;
}

/** What a page will look like. */
export const ghost = (sample: Html) =>
  html`<div class="ghost">
    <p class="quiet">Sample figures of a made-up shop</p>
    <div inert>${sample}</div>
  </div>`;

/** Of a table; the first row has the names of the columns. */
type Sample = readonly (readonly [name: string, ...values: string[]])[];

/** What a list says without rows. */
export interface EmptyList {
  readonly title: string;
  readonly text: HtmlValue;
  /** Whether a source brings the rows, so that it leads to them. */
  readonly isOfSource?: true;
  /** Rows of a made-up shop, for a list that is empty only in a shop without data. */
  readonly sample?: Sample;
}

const cardOf = (visit: ShopVisit, { title, text, isOfSource }: EmptyList) =>
  html`<h2>${title}</h2>
    <p>${text}</p>
    ${isOfSource && html`<p>${sourcesLink(visit)}</p>`}`;

export function emptyList(visit: ShopVisit, empty: EmptyList): Html {
  const card = cardOf(visit, empty);
  return empty.sample
    ? emptyPage(card, sampleTable(empty.sample))
    : html`<div class="card">${card}</div>`;
}

/** What a page about one subject will show. */
interface Subject {
  readonly title: string;
  readonly text: string;
  /** What the page says of the made-up shop. */
  readonly answer: string;
  readonly rows: Sample;
}

/** The same for a page about one subject. */
export function emptySubject(visit: ShopVisit, { answer, rows, ...subject }: Subject): Html {
  return emptyPage(
    cardOf(visit, { ...subject, isOfSource: true }),
    html`<p class="answer">${answer}</p>
      <svg class="wave" viewBox="0 0 640 160" preserveAspectRatio="none" aria-hidden="true">
        <path d="M0 130 80 112 160 118 240 86 320 94 400 62 480 70 560 40 640 28" />
      </svg>
      ${sampleTable(rows)}`,
  );
}

const sampleTable = ([heads = [''], ...rows]: Sample) =>
  plainTable(
    rows,
    heads.map((head, at) => [head, (row) => row[at], at === 0 ? 'head' : 'amount']),
    { look: 'plain' },
  );
