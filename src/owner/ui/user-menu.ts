import { type Html, html } from '../../http/html.ts';
import type { OwnerSession } from '../../accounts/sessions.ts';
import { themes } from '../cookies.ts';
import type { Visit } from '../site.ts';
import { hiddenFields, token } from './fields.ts';

/** What is the owner's own, behind their initials at the top of every page. */
export function userMenu(visit: Visit, { email, name }: OwnerSession): Html {
  const { page, shops = [], theme, request } = visit;
  // Another page cannot lead back to the answer to a form; and what was done is said once.
  const next =
    page && request.method === 'GET' ? request.url.replace(/[?&]done=[^&]*$/, '') : '/app';
  const link = (path: string, label: string) =>
    html`<a href="${path}" ${page?.path === path && html`aria-current="page"`}>${label}</a>`;
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
