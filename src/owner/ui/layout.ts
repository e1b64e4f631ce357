import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Shop } from '../../store/shops.ts';
import { type Asset, frameAssets } from './assets.ts';
import { icons } from './icons.ts';
import { formToken } from './form-token.ts';
import type { Visit } from '../visit.ts';

type Current = ShopPage | 'shops' | 'account';

interface PageParts {
  readonly title: string;
  readonly content: Html;
  /** The shop that the page is about, and which of its pages it is. */
  readonly shop?: Shop;
  readonly current?: Current;
  /** The one thing to do first on this page: a link or a form, beside the title. */
  readonly action?: Html | undefined;
  /** The page above this one. */
  readonly trail?: { readonly path: string; readonly label: string };
  /** What this page loads besides what all do. */
  readonly assets?: readonly Asset[];
}

/** The kinds of page that every shop has, in the order of the navigation. */
const shopPages = {
  overview: { path: '', label: 'Overview' },
  subscriptions: { path: '/subscriptions', label: 'Subscriptions' },
  cancelFlow: { path: '/cancel-flow', label: 'Cancel flow' },
  keys: { path: '/keys', label: 'Developers' },
} as const;
type ShopPage = keyof typeof shopPages;

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
  const { title, content, current, action, trail, assets = [] } = parts;
  const { session, shops = [] } = visit ?? {};
  // Whoever has one shop is always in it; of several, only a page about one says which.
  const shop = parts.shop ?? (shops.length === 1 ? shops[0] : undefined);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}${parts.shop ? ` · ${parts.shop.name}` : ''} · Retention</title>
        <link rel="icon" href="data:," />
        ${[...frameAssets, ...assets].map(load)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/app">Retention</a>
          ${shop && shopMark(shop, shops, current)}
          ${
            visit && session
              ? html`<form method="post" action="/app/sign-out">
                  ${token(visit)}<button class="plain">Sign out</button>
                </form>`
              : undefined
          }
        </header>
        <div class="frame">
          ${session ? navigation(shop, current) : undefined}
          <main id="content" tabindex="-1">
            ${trail && html`<p class="trail"><a href="${trail.path}">${trail.label}</a></p>`}
            <div class="title">
              <h1>${title}</h1>
              ${action}
            </div>
            ${content}
          </main>
        </div>
      </body>
    </html>`;
}

function navigation(shop: Shop | undefined, current: Current | undefined): Html {
  const link = (name: Current, path: string, label: string) =>
    html`<li>
      <a href="${path}" ${name === current ? html`aria-current="page"` : undefined}
        >${icons[name]}<span>${label}</span></a
      >
    </li>`;
  const links = shop
    ? Object.entries(shopPages).map(([name, { path, label }]) =>
        link(name as ShopPage, shopPath(shop, path), label),
      )
    : link('shops', '/app/shops', 'Your shops');
  return html`<nav aria-label="Pages">
    <ul>
      ${links} ${link('account', '/app/account', 'Account')}
    </ul>
  </nav>`;
}

/** Which shop it is; with others beside it, a menu that leads to the same kind of page of each. */
function shopMark(shop: Shop, shops: readonly Shop[], current: Current | undefined): Html {
  const mark = html`<strong>${shop.name}</strong>
    <span class="tier">${tierNames[shop.tier]}</span>`;
  if (shops.length < 2) return html`<p class="shop">${mark}</p>`;
  const path = current && current in shopPages ? shopPages[current as ShopPage].path : '';
  const links = shops.map(
    (each) =>
      html`<li>
        <a
          href="${shopPath(each, path)}"
          ${each.id === shop.id ? html`aria-current="true"` : undefined}
          ><span>${each.name}</span> <span class="tier">${tierNames[each.tier]}</span></a
        >
      </li>`,
  );
  return html`<details class="shop menu">
    <summary><span class="unseen">Change shop, now</span> ${mark}</summary>
    <ul>
      ${links}
    </ul>
  </details>`;
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
