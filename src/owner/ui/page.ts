import { type Html, type HtmlValue, html } from '../../http/html.ts';
import {
  type Asset,
  endOfPage,
  iconLink,
  mark,
  contentSecurityPolicy,
  waitForEnd,
} from '../../http/look/look.ts';
import type { Shop } from '../../store/shops.ts';
import { type AssetName, frameAssets, assets } from './assets.ts';
import { alert } from './elements.ts';
import { icon } from './icons.ts';
import {
  type MemberShop,
  type PageInfo,
  type Visit,
  type Site,
  addressOf,
  isOfShop,
  sectionOf,
  shopPath,
} from '../site.ts';
import { tierNames } from './labels.ts';
import { may } from '../../accounts/rights.ts';
import type { Answer } from '../../http/answer.ts';
import { inputField, hiddenFields, token } from './fields.ts';
import type { OwnerSession } from '../../accounts/sessions.ts';
import { themes } from '../cookies.ts';

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

/** A visit that may be to one of the shops. */
export type AnyVisit = Visit & { readonly shop?: MemberShop };

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
export function page(visit: AnyVisit | undefined, parts: PageParts): Answer {
  return {
    status: parts.status ?? (parts.problem === undefined ? 200 : 422),
    headers: { 'content-type': 'text/html; charset=utf-8', ...pageHeaders, ...parts.headers },
    body: frame(visit, parts).toString(),
  };
}

/** Redirects to another page by GET, so that reloading it does not repeat the action. */
export function redirect(path: `/app${string}`, cookies: readonly string[] = []): Answer {
  // What was decoded from an address may have characters that no header may have.
  const location = path.replace(/[^!-~]/gu, encodeURIComponent);
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

function frame(visit: AnyVisit | undefined, parts: PageParts): Html {
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
        ${iconLink} ${waitForEnd}
        ${[frameAssets, ...names.map((name) => assets[name])].flat().map(load)}
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
        ${endOfPage} ${session && shop && !isSearch && searchDialog(shop)}
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

type Linked = PageInfo & Required<Pick<PageInfo, 'navigation'>>;

/**
 * The links beside every page of a shop. On phones, a bar at the bottom has a few of them, and opens the rest as a
 * popover, which takes no script.
 * @param current the page that is shown, or that the page shown belongs to
 */
export function navigation(
  site: Site,
  current: PageInfo | undefined,
  shop: Pick<MemberShop, 'id' | 'role'>,
): Html {
  const linked = site.filter(
    (each): each is Linked =>
      each.navigation !== undefined && isOfShop(each) && may(shop.role, each.right),
  );
  const inBar = linked.filter(({ navigation: { isInBar } }) => isInBar);
  const items = (pages: readonly Linked[]) => pages.map((each) => item(each, shop, current));
  const groups = [...Map.groupBy(linked, (each) => each.navigation.group)].map(
    ([heading, pages]) =>
      html`<p>${heading}</p>
        <ul>
          ${items(pages)}
        </ul>`,
  );
  const isInMore = linked.some((each) => each === current && !each.navigation.isInBar);
  return html`<nav aria-label="Main">
    <div class="side" id="menu" popover>${groups}</div>
    <ul class="bar">
      ${items(inBar)} ${more(isInMore)}
    </ul>
  </nav>`;
}

function more(isCurrent: boolean): Html {
  return html`<li>
    <button type="button" popovertarget="menu" ${isCurrent && html`class="current"`}>
      ${icon('more')}<span>More</span>
    </button>
  </li>`;
}

function item(linked: Linked, shop: Pick<Shop, 'id'>, current: PageInfo | undefined): Html {
  const isCurrent = linked === current && html` aria-current="page"`;
  const at = html`href="${addressOf(linked, shop)}"${isCurrent}`;
  const shown = html`${icon(linked.navigation.icon)}<span>${linked.label}</span>`;
  return html`<li><a ${at}>${shown}</a></li>`;
}

const searchPath = '/search';

/** One field for pages, actions and records; a script shows the results while typing. */
export function searchForm(
  { id }: Pick<Shop, 'id'>,
  asked: string,
  results: Html | undefined,
): Html {
  return html`<form
    class="search"
    role="search"
    method="get"
    action="/app/shops/${id}${searchPath}"
  >
    ${inputField(
      {
        id: 'search-field',
        name: 'q',
        label: 'Search by number or id, or go to a page',
        hint: 'Our number, or the id at the source, such as cus_… or gid://…',
        value: asked,
      },
      html`type="search" spellcheck="false" autocapitalize="none" autocomplete="off" maxlength="200"`,
    )}
    <button>Search</button>
    <div class="results" aria-live="polite">${results}</div>
  </form>`;
}

/** Opened by a script, with Ctrl+K or ⌘K, or by the link in the frame. */
function searchDialog(shop: Pick<Shop, 'id'>): Html {
  return html`<dialog class="search" aria-label="Search">
    ${searchForm(shop, '', undefined)}
    <form method="dialog"><button class="plain">Close</button></form>
  </dialog>`;
}

/** What is the owner's own, behind their initials at the top of every page. */
function userMenu(visit: Visit, { email, name }: OwnerSession): Html {
  const { page: visited, shops = [], theme, request } = visit;
  // Another page cannot lead back to the answer to a form; and what was done is said once.
  const next =
    visited && request.method === 'GET' ? request.url.replace(/[?&]done=[^&]*$/, '') : '/app';
  const link = (path: string, label: string) =>
    html`<a href="${path}" ${visited?.path === path && html`aria-current="page"`}>${label}</a>`;
  const choices = Object.entries(themes).map(([value, label]) => {
    const state = html`aria-pressed="${String(value === theme)}"`;
    return html`<button
      class="plain"
      formaction="/app/theme"
      name="theme"
      value="${value}"
      ${state}
    >
      ${label}
    </button>`;
  });
  return html`<details class="menu user">
    <summary>
      <span class="visually-hidden">Your account</span>
      <span class="avatar" aria-hidden="true"
        >${initialsOf(name ?? email.replace(/@.*$/, ''))}</span
      >
    </summary>
    <form id="sign-out" method="post" action="/app/sign-out">
      ${token(visit)} ${hiddenFields([['next', next]])}
      <p class="quiet">${name !== null && html`${name}<br />`}${email}</p>
      ${link('/app/account', 'Account')} ${shops.length > 1 && link('/app/shops', 'Your shops')}
      <fieldset>
        <legend>Theme</legend>
        ${choices}
      </fieldset>
      <button class="plain leave">Sign out</button>
    </form>
  </details>`;
}

/** Of a name, or of what an address such as `ana.silva@example.com` begins with: AS. */
function initialsOf(text: string): string {
  const words = text.split(/[^\p{L}\p{N}]+/u);
  const letters = words.flatMap((word) => [...word].slice(0, 1));
  return letters.slice(0, 2).join('').toUpperCase();
}
