import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { type Asset, iconLink, mark } from '../../http/look/look.ts';
import type { Shop } from '../../store/shops.ts';
import { frameAssets } from './assets.ts';
import { icons } from './navigation/icons.ts';
import { formToken } from './form-token.ts';
import { navigation } from './navigation/navigation.ts';
import { searchDialog, searchPath } from './search.ts';
import { type PageInfo, addressOf, sectionOf } from '../site.ts';
import type { Visit } from '../visit.ts';

interface PageParts {
  readonly title: string;
  readonly content: Html;
  /** The primary action, a link or a form beside the title. */
  readonly action?: Html | undefined;
  /** Loaded in addition to the assets of every page. */
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

/** Renders a complete page; where it is in the navigation is what the registry says of the page visited. */
export function layout(
  visit: (Visit & { readonly shop?: Shop }) | undefined,
  parts: PageParts,
): Html {
  const { title, content, action, assets = [] } = parts;
  const { session, shops = [], site = [], page } = visit ?? {};
  // With several shops, only a page about one of them says which shop to show.
  const shop = visit?.shop ?? (shops.length === 1 ? shops[0] : undefined);
  const section = sectionOf(site, page);
  // A form in error is answered with the page that it is on, which is the parent itself.
  const hasBreadcrumb = page?.parent !== undefined && title !== section?.label;
  const isSearch = page?.path === searchPath;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}${visit?.shop ? ` · ${visit.shop.name}` : ''} · Retention</title>
        ${iconLink} ${[...frameAssets, ...assets].map(load)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="top">
          <a class="brand" href="/app">${mark}Retention</a>
          ${shop && shopSwitch(shop, shops, section)}
          ${
            session && shop
              ? html`<a
                  class="search"
                  href="${shopPath(shop, searchPath)}"
                  aria-keyshortcuts="Control+K Meta+K"
                  ${isSearch ? html`aria-current="page"` : undefined}
                  >${icons.search}<span>Search</span></a
                >`
              : undefined
          }
          ${
            visit && session
              ? html`<a
                    class="account"
                    href="/app/account"
                    aria-label="Account"
                    ${section?.path === '/app/account' ? html`aria-current="page"` : undefined}
                    >${icons.account}</a
                  >
                  <form id="sign-out" method="post" action="/app/sign-out">
                    ${token(visit)}<button class="plain">Sign out</button>
                  </form>`
              : undefined
          }
        </header>
        <div class="frame">
          ${session ? navigation(site, section, shop) : undefined}
          <main id="content" tabindex="-1">
            ${
              section && hasBreadcrumb
                ? html`<p class="breadcrumb">
                    <a href="${addressOf(section, shop)}">${section.label}</a>
                  </p>`
                : undefined
            }
            <div class="title">
              <h1>${title}</h1>
              ${action}
            </div>
            ${content}
          </main>
        </div>
        ${session && shop && !isSearch ? searchDialog(shop) : undefined}
      </body>
    </html>`;
}

/** The shop's name; with several shops, a menu that links to the same page of each. */
function shopSwitch(shop: Shop, shops: readonly Shop[], section: PageInfo | undefined): Html {
  const name = html`${avatar(shop)} <strong>${shop.name}</strong>
    <span class="tier">${tierNames[shop.tier]}</span>`;
  if (shops.length < 2) return html`<p class="shop">${name}</p>`;
  const path = section?.right === 'shop' ? section.path : '';
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
    <summary><span class="visually-hidden">Switch shop. Current shop:</span> ${name}</summary>
    <ul>
      ${links}
    </ul>
  </details>`;
}

/** The first letter of a shop's name. */
export function avatar({ name }: Pick<Shop, 'name'>): Html {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return html`<span class="avatar" aria-hidden="true">${first?.segment.toUpperCase()}</span>`;
}

function load({ kind, path }: Asset): Html {
  return kind === 'css'
    ? html`<link rel="stylesheet" href="${path}" />`
    : html`<script src="${path}" defer></script>`;
}

/** The hidden CSRF token that every form needs. */
export function token(visit: Visit): Html {
  return html`<input type="hidden" name="token" value="${formToken(visit.formSecret)}" />`;
}

/** The id of a page's alert, for the fields that it is about. */
export const problemId = 'problem';

/** An error message, announced by screen readers. */
export function alert(message: HtmlValue): Html | undefined {
  return message === undefined
    ? undefined
    : html`<p class="alert" id="${problemId}" role="alert">${message}</p>`;
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

/** Where data comes from, for pages without any. */
export function sourcesLink({ shop }: { readonly shop: Pick<Shop, 'id'> }): Html {
  return html`<a class="button" href="${shopPath(shop, '/sources')}">Go to Sources</a>`;
}

/** A message about a completed action. */
export function notice(message: HtmlValue): Html | undefined {
  return message === undefined ? undefined : html`<p class="notice" role="status">${message}</p>`;
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
