import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { type Asset, iconLink, mark, contentSecurityPolicy } from '../../http/look/look.ts';
import type { Shop } from '../../store/shops.ts';
import { type AssetName, frameAssets, assets } from './assets.ts';
import { alert } from './elements.ts';
import { icon } from './icons.ts';
import { navigation } from './navigation.ts';
import { searchDialog, searchPath } from './search.ts';
import {
  type MemberShop,
  type PageInfo,
  type Visit,
  addressOf,
  isOfShop,
  sectionOf,
  shopPath,
} from '../site.ts';
import { tierNames } from './labels.ts';
import { userMenu } from './user-menu.ts';
import { may } from '../../accounts/rights.ts';
import type { Answer } from '../../http/answer.ts';

interface PageParts {
  readonly title: string;
  readonly content: Html;
  /** The primary action, a link or a form beside the title. */
  readonly action?: Html | undefined;
  /** Loaded in addition to the assets of every page. */
  readonly assets?: readonly AssetName[] | undefined;
  /** What is wrong with what was entered or asked for; shown first. */
  readonly problem?: HtmlValue;
  /** With a problem 422 by default, otherwise 200. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

type AnyVisit = (Visit & { readonly shop?: MemberShop }) | undefined;

/** Headers of every page under /app. */
export const pageHeaders = {
  'cache-control': 'private, no-store',
  'content-security-policy': contentSecurityPolicy("'self'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  // Not `no-referrer`: browsers would then send forms without the Origin header that we check.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/** A page; where it is in the navigation is what the registry says of the page visited. */
export function page(visit: AnyVisit, parts: PageParts): Answer {
  return {
    status: parts.status ?? (parts.problem === undefined ? 200 : 422),
    headers: { 'content-type': 'text/html; charset=utf-8', ...pageHeaders, ...parts.headers },
    body: frame(visit, parts).toString(),
  };
}

/** Redirects to another page by GET, so that reloading it does not repeat the action. */
export function redirect(location: `/app${string}`, cookies: readonly string[] = []): Answer {
  return { status: 303, headers: { location, ...pageHeaders }, cookies, body: '' };
}

/** Redirects to a page of the shop. @param done what the page then says was done */
export function backTo(
  { shop }: { readonly shop: Pick<Shop, 'id'> },
  path: string,
  done?: string,
): Answer {
  return redirect(shopPath(shop, done === undefined ? path : `${path}?done=${done}`));
}

/** The page to open after signing in: only one below /app, so that a link cannot lead to another site. */
export function returnPath(asked: string | null): `/app${string}` {
  const base = 'http://localhost';
  const url = URL.parse(asked ?? '', base);
  return url?.origin === base && url.pathname.startsWith('/app/')
    ? `/app${url.pathname.slice('/app'.length)}${url.search}`
    : '/app';
}

function frame(visit: AnyVisit, parts: PageParts): Html {
  const { title, content, action, problem, assets: names = [] } = parts;
  const { session, shops = [], site = [], page: visited } = visit ?? {};
  // With several shops, only a page about one of them says which shop to show.
  const shop = visit?.shop ?? (shops.length === 1 ? shops[0] : undefined);
  const section = sectionOf(site, visited);
  // A form in error is answered with the page that it is on, which is the parent itself.
  const hasBreadcrumb = visited?.parent !== undefined && title !== section?.label;
  const isSearch = visited?.path === searchPath;
  return html`<!doctype html>
    <html lang="en" ${visit && visit.theme !== 'system' && html`data-theme="${visit.theme}"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}${visit?.shop ? ` · ${visit.shop.name}` : ''} · Retention</title>
        ${iconLink} ${[frameAssets, ...names.map((name) => assets[name])].flat().map(load)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="top">
          <a class="brand" href="/app">${mark}Retention</a>
          ${shop && shopSwitch(shop, shops, section)}
          ${
            session &&
            shop &&
            html`<a
              class="search"
              href="${shopPath(shop, searchPath)}"
              aria-keyshortcuts="Control+K Meta+K"
              ${isSearch && html`aria-current="page"`}
              >${icon('search')}<span>Search</span><kbd hidden></kbd
            ></a>`
          }
          ${visit && session && userMenu(visit, session)}
        </header>
        <div class="frame">
          ${session && shop && navigation(site, section, shop)}
          <main id="content" tabindex="-1">
            ${
              section &&
              hasBreadcrumb &&
              html`<p class="breadcrumb">
                <a href="${addressOf(section, shop)}">${section.label}</a>
              </p>`
            }
            <div class="title">
              <h1>${title}</h1>
              ${action}
            </div>
            ${alert(problem)} ${content}
          </main>
        </div>
        ${session && shop && !isSearch && searchDialog(shop)}
      </body>
    </html>`;
}

/** The shop's name; with several shops, a menu that links to the same page of each. */
function shopSwitch(shop: Shop, shops: readonly MemberShop[], section: PageInfo | undefined): Html {
  const name = html`${avatar(shop)} <strong>${shop.name}</strong>
    <span class="tier">${tierNames[shop.tier]}</span>`;
  if (shops.length < 2) return html`<p class="shop">${name}</p>`;
  const pathIn = ({ role }: MemberShop) =>
    section && isOfShop(section) && may(role, section.right) ? section.path : '';
  const links = shops.map(
    (each) =>
      html`<li>
        <a
          href="${shopPath(each, pathIn(each))}"
          ${each.id === shop.id && html`aria-current="true"`}
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
