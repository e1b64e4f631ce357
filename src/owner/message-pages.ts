import type { Answer } from '../http/answer.ts';
import { type Html, html } from '../http/html.ts';
import { type AnyVisit, page } from './ui/page.ts';
import { type MemberShop, type Visit, addressOf, isOfShop, opens, shopPath } from './site.ts';
import { type ShopRight, may, rights, roleNames } from '../accounts/rights.ts';
import type { SegmentTooLarge } from '../metrics/segments/time-limit.ts';
import { conditionNames } from '../metrics/segments/segment.ts';

const homeLink = html`<a href="/app">Go to your shops</a>`;

/** Where in a shop the visitor's role leads first. */
function shopLink({ site, shop }: Pick<Visit, 'site'> & { readonly shop: MemberShop }) {
  if (opens({ site, shop }, '')) {
    return html`<a href="${shopPath(shop)}">Go to the overview of ${shop.name}</a>`;
  }
  const first = site
    .filter(isOfShop)
    .find(({ navigation, right }) => navigation && may(shop.role, right));
  return first && html`<a href="${addressOf(first, shop)}">Go to ${first.label}</a>`;
}

/** @param visit for a page with the frame of signed-in owners, and of the shop */
function messagePage(
  title: string,
  text: string,
  status: number,
  visit?: AnyVisit,
  otherWay?: Html,
): Answer {
  const shop = visit?.shop;
  const wayOn = (shop && visit && shopLink({ ...visit, shop })) ?? otherWay ?? homeLink;
  return page(visit && { ...visit, page: undefined }, {
    title,
    content: html`<p>${text}</p>
      <p>${wayOn}</p>`,
    status,
  });
}

/** For every path that does not exist or that the visitor may not see. */
export function notFoundPage(visit?: AnyVisit): Answer {
  return messagePage(
    'Page not found',
    'This page does not exist, or you do not have access to it.',
    404,
    visit,
    html`${homeLink}, or <a href="/docs">read the documentation</a>.`,
  );
}

/** For a page, or a form, that the visitor's role in the shop does not include. */
export function roleLacksPage(
  visit: Visit & { readonly shop: MemberShop },
  right: ShopRight,
): Answer {
  const { role, name } = visit.shop;
  const allowed = new Intl.ListFormat('en', { type: 'disjunction' }).format(
    rights[right].map((each) => roleNames[each].toLowerCase()),
  );
  return messagePage(
    'Not part of your role',
    `Your role at ${name} is ${roleNames[role].toLowerCase()}; this takes the role ${allowed}. An owner of ${name} can change it.`,
    403,
    visit,
  );
}

/** For a form that is refused. */
const nothingChanged = (text: string, status = 403, wayOn?: Html) =>
  messagePage('Nothing was changed', text, status, undefined, wayOn);

export const crossSitePage = () =>
  nothingChanged(
    'This form was not sent from a page of this service. Open the page here, then try again.',
  );

export const expiredFormPage = () =>
  nothingChanged(
    'The page with this form has expired, or cookies are disabled. Reload it, then try again.',
  );

/** @param signIn where to sign in, and then open the form again */
export const signedOutPage = (signIn: string) =>
  nothingChanged(
    'You were signed out before this form was sent. Sign in, then fill it in again.',
    403,
    html`<a href="${signIn}">Sign in</a>`,
  );

/** @param maxBytes how large the form may be */
export function unreadablePage(
  { status, headers }: Pick<Answer, 'status' | 'headers'>,
  maxBytes: number,
): Answer {
  const isLarge = status === 413;
  const answer = nothingChanged(
    isLarge
      ? `This form takes at most ${maxBytes / 1024} KB, and what you entered is longer. Go back and shorten it.`
      : 'This form could not be read. Reload the page, then try again.',
    status,
  );
  const { connection } = headers;
  return connection === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, connection } };
}

export const busyPage = () =>
  messagePage('Busy', 'Too many people are signing in right now. Try again in a minute.', 503);

export function failurePage(requestId: string): Answer {
  const text = `Something failed on our side. Try again. If it keeps happening, send this request ID to the operator of this service: ${requestId}`;
  return messagePage('Something went wrong', text, 500);
}

/** In place of a page whose segment takes too long. */
export function segmentTooLargePage(
  visit: Visit & { readonly shop: MemberShop },
  { message }: SegmentTooLarge,
): Answer {
  const { request, query } = visit;
  const [path] = request.url.split('?');
  const rest = new URLSearchParams([...query].filter(([name]) => !isCondition(name)));
  const content = html`<p>
    <a href="${path}${rest.size > 0 ? `?${rest}` : ''}">Show all subscriptions</a>
  </p>`;
  return page(visit, {
    title: 'This segment is too large',
    content,
    problem: message,
    status: 503,
  });
}

const isCondition = (name: string) => conditionNames.some((each) => each === name);
