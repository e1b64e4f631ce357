import { type Html, html } from '../../http/html.ts';
import type { Message } from '../../mail/mailer.ts';
import type { Shop } from '../../store/shops.ts';
import { shopPath } from '../site.ts';

/** What a mail says, before it becomes text and HTML. */
export interface Letter {
  readonly subject: string;
  readonly sentences: readonly string[];
  /** A figure each, with what it was before. */
  readonly rows?: readonly Readonly<Record<'name' | 'value' | 'before', string>>[];
  /** What the columns of figures are about. */
  readonly columns?: readonly [value: string, before: string];
  /** The pages that have more, below the shop's. */
  readonly links: readonly Readonly<Record<'label' | 'path', string>>[];
}

export interface Envelope {
  readonly to: string;
  readonly shop: Pick<Shop, 'id' | 'name'>;
  /** Of the service. */
  readonly baseUrl: string;
  readonly unsubscribeSecret: string;
}

/** A letter about a shop, ready to be sent. */
export function toMessage(letter: Letter, envelope: Envelope): Message {
  const { shop, baseUrl, unsubscribeSecret, to } = envelope;
  const urls: Urls = {
    more: letter.links.map(({ path }) => baseUrl + shopPath(shop, path)),
    settings: baseUrl + shopPath(shop, '/notifications'),
    unsubscribe: `${baseUrl}/app/unsubscribe/${unsubscribeSecret}`,
  };
  return {
    to,
    subject: `${shop.name}: ${letter.subject}`,
    text: toText(letter, shop.name, urls),
    html: toHtml(letter, shop.name, urls),
    unsubscribeUrl: urls.unsubscribe,
  };
}

/** Those of the letter's links are `more`, in their order. */
type Urls = Readonly<{ more: readonly string[]; settings: string; unsubscribe: string }>;

function toText({ sentences, rows = [], columns, links }: Letter, shop: string, urls: Urls) {
  const table = rows.map(
    ({ name, value, before }) => `${name}: ${value}${columns ? ` (${columns[1]}: ${before})` : ''}`,
  );
  return [
    sentences.join(' '),
    ...(table.length === 0 ? [] : [table.join('\n')]),
    links.map(({ label }, index) => `${label}: ${urls.more[index]}`).join('\n'),
    `--\nYou chose to get mail about ${shop}.\nChange what you get: ${urls.settings}\nUnsubscribe: ${urls.unsubscribe}`,
  ].join('\n\n');
}

const cell = 'padding:6px 12px 6px 0;border-bottom:1px solid #ddd';
const number = `${cell};text-align:right`;

/** Mail programs know no style sheets, so that each element has its style. */
const styled = (css: string) => html`style="${css}"`;

function toHtml(letter: Letter, shop: string, urls: Urls): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${letter.subject}</title>
      </head>
      <body
        style="margin:0 auto;max-width:560px;padding:24px;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff"
      >
        ${letterBody(letter, shop, urls.more, styled)}
        <p style="margin:0;font-size:12px;color:#595959">
          You chose to get mail about ${shop}.
          <a href="${urls.settings}" style="color:#595959">Change what you get</a> ·
          <a href="${urls.unsubscribe}" style="color:#595959">Unsubscribe</a>
        </p>
      </body>
    </html>`.toString();
}

/**
 * What a mail shows, and its preview.
 * @param more the addresses of its links
 * @param style nothing on pages, which have a style sheet
 */
export function letterBody(
  { sentences, rows = [], columns = ['', ''], links }: Letter,
  shop: string,
  more: readonly string[],
  style: (css: string) => Html | undefined = () => undefined,
): Html {
  return html`<p ${style('margin:0 0 4px;font-size:14px;color:#595959')}>${shop}</p>
    <p ${style('margin:0 0 16px')}>${sentences.join(' ')}</p>
    ${
      rows.length !== 0 &&
      html`<table
        class="plain"
        ${style('width:100%;border-collapse:collapse;font-size:14px;margin:0 0 16px')}
      >
        <thead>
          <tr>
            <th scope="col" ${style(`${cell};text-align:left;font-weight:400`)}>Figure</th>
            ${columns.map((name) => html`<th scope="col" ${style(`${number};font-weight:400`)}>${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ name, value, before }) =>
              html`<tr>
                <th scope="row" ${style(`${cell};text-align:left;font-weight:400`)}>${name}</th>
                <td ${style(`${number};font-weight:600`)}>${value}</td>
                <td ${style(`${number};color:#595959`)}>${before}</td>
              </tr>`,
          )}
        </tbody>
      </table>`
    }
    <p ${style('margin:0 0 24px')}>
      ${links.map(
        ({ label }, index) =>
          html`<a href="${more[index]}" ${style('color:#0b57d0')}>${label}</a><br />`,
      )}
    </p>`;
}
