import { type Html, type HtmlValue, html } from '../http/html.ts';
import type { Shop } from '../store/shops.ts';
import { type Asset, copyScript, style } from './answers.ts';
import { formToken } from './secrets.ts';
import type { Visit } from './visit.ts';

interface PageParts {
  readonly title: string;
  readonly content: Html;
  /** The shop that the page is about, and which of its pages it is. */
  readonly shop?: Shop;
  readonly current?: 'overview' | 'keys' | 'account';
  /** What this page loads besides what all do. */
  readonly assets?: readonly Asset[];
}

export const tierNames: Readonly<Record<Shop['tier'], string>> = {
  free: 'Free',
  starter: 'Starter',
  growth: 'Growth',
  pro: 'Pro',
  enterprise_plus: 'Enterprise Plus',
};

export function shopPath({ id }: Pick<Shop, 'id'>, rest = ''): `/app${string}` {
  return `/app/shops/${id}${rest}`;
}

/** A whole page. */
export function layout(visit: Visit | undefined, parts: PageParts): Html {
  const { title, content, shop, current, assets = [] } = parts;
  const session = visit?.session;
  const link = (name: typeof current, path: string, label: string) =>
    html`<li>
      <a href="${path}" ${name === current ? html`aria-current="page"` : undefined}>${label}</a>
    </li>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}${shop ? ` · ${shop.name}` : ''} · Retention</title>
        <link rel="icon" href="data:," />
        ${[style, copyScript, ...assets].map(load)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/app">Retention</a>
          ${
            shop &&
            html`<p class="shop">
              <strong>${shop.name}</strong> <span class="tier">${tierNames[shop.tier]}</span>
            </p>`
          }
          ${
            visit && session
              ? html`<form method="post" action="/app/sign-out">
                  ${token(visit)}<button class="plain">Sign out</button>
                </form>`
              : undefined
          }
        </header>
        <div class="frame">
          ${
            session
              ? html`<nav aria-label="Pages">
                  <ul>
                    ${shop && link('overview', shopPath(shop), 'Overview')}
                    ${shop && link('keys', shopPath(shop, '/keys'), 'Developers')}
                    ${link('account', '/app/account', 'Account')}
                  </ul>
                </nav>`
              : undefined
          }
          <main id="content" tabindex="-1">
            <h1>${title}</h1>
            ${content}
          </main>
        </div>
      </body>
    </html>`;
}

function load({ kind, path }: Asset): Html {
  return kind === 'css'
    ? html`<link rel="stylesheet" href="${path}" />`
    : html`<script src="${path}" defer></script>`;
}

/** What every form carries. */
export function token(visit: Visit): Html {
  return html`<input type="hidden" name="token" value="${formToken(visit.formSecret)}" />`;
}

/** What went wrong, where the eye and a screen reader find it first. */
export function alert(message: HtmlValue): Html | undefined {
  return message === undefined ? undefined : html`<p class="alert" role="alert">${message}</p>`;
}

/** What was done. */
export function notice(message: HtmlValue): Html | undefined {
  return message === undefined ? undefined : html`<p class="notice" role="status">${message}</p>`;
}

interface PasswordField {
  readonly name: string;
  readonly label: string;
  readonly autocomplete: 'current-password' | 'new-password';
  readonly hint?: string;
}

export function passwordField({ name, label, autocomplete, hint }: PasswordField): Html {
  return html`<p class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="password"
      autocomplete="${autocomplete}"
      required
      ${hint === undefined ? undefined : html`aria-describedby="${name}-hint"`}
    />
    ${hint === undefined ? undefined : html`<span class="hint" id="${name}-hint">${hint}</span>`}
  </p>`;
}
