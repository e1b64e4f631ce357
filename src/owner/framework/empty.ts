import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { sourcesLink } from '../ui/elements.ts';

/** A page without data: what brings some, in front of the page with the figures of a made-up shop. */
export function emptyPage(card: Html, sample: Html): Html {
  return html`<div class="empty">
    <section class="card">${card}</section>
    <div class="ghost">
      <p class="quiet">Sample figures of a made-up shop</p>
      <div inert>${sample}</div>
    </div>
  </div>`;
}

/** What a page about one subject will show. */
interface Subject {
  readonly title: string;
  readonly text: string;
  /** What the page says of the made-up shop. */
  readonly answer: string;
  /** Of its table; the first has the names of the columns. */
  readonly rows: readonly (readonly [name: string, ...values: string[]])[];
}

/** The same for a page about one subject, which leads to the ways in. */
export function emptySubject(visit: ShopVisit, { title, text, answer, rows }: Subject): Html {
  const [[first, ...names] = [''], ...samples] = rows;
  const card = html`<h2>${title}</h2>
    <p>${text}</p>
    <p>${sourcesLink(visit)}</p>`;
  return emptyPage(
    card,
    html`<p class="answer">${answer}</p>
      <svg class="wave" viewBox="0 0 640 160" preserveAspectRatio="none" aria-hidden="true">
        <path d="M0 130 80 112 160 118 240 86 320 94 400 62 480 70 560 40 640 28" />
      </svg>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">${first}</th>
            ${names.map((name) => html`<th scope="col" class="amount">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${samples.map(
            ([name, ...values]) =>
              html`<tr>
                <th scope="row">${name}</th>
                ${values.map((value) => html`<td class="amount">${value}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>`,
  );
}
