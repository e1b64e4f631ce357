import {
  type FactorParts,
  type GivenFactor,
  checkFactor,
  noteProof,
} from '../../accounts/factors/factors.ts';
import { appSealing } from '../../accounts/factors/codes.ts';
import type { PasskeyBrowser, RelyingParty } from '../../accounts/factors/passkeys.ts';
import {
  type Accounts,
  type OwnerSession,
  fingerprint,
  ownerActor,
} from '../../accounts/sessions.ts';
import { type Refused, checkPassword } from '../../accounts/sign-in.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { listFactors } from '../../store/owners/factors.ts';
import { findSessionProvider } from '../../store/owners/sso.ts';
import { explainRefusal } from '../account/refused.ts';
import { type MemberShop, type Visit, addressOf, sectionOf } from '../site.ts';
import { ssoPath } from '../sso/paths.ts';
import { hiddenFields, inputField, passwordField, postForm, usernameField } from '../ui/fields.ts';
import { page, returnPath } from '../ui/page.ts';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

export interface ProofParts extends Pick<FactorParts, 'accounts'> {
  readonly platforms: { readonly credentialsKeys: readonly Buffer[] };
  baseUrl(): string;
  readonly isPublic: boolean;
}

interface Owner {
  readonly ownerId: string;
  readonly email: string;
}

/** Where owners set up their second factors. */
export const factorsPath = '/app/account/factors';

/** How long a proof of who somebody is counts. */
const proofMinutes = 10;

/** The fields of a proof, which may be among those of any form. */
const names = {
  passkey: 'proof-passkey',
  code: 'proof-code',
  email: 'proof-email',
  password: 'proof-password',
} as const;

export function factorParts({ accounts, platforms }: ProofParts): FactorParts {
  return { accounts, sealing: appSealing(platforms.credentialsKeys) };
}

/** The browser that passkeys are asked of; undefined where there are none. */
export function browserOf(parts: ProofParts, visit: Visit): PasskeyBrowser | undefined {
  const party = partyOf(visit.request, parts);
  return typeof party === 'string' ? undefined : { party, secret: visit.formSecret };
}

/** Checks the second factor in a form. @returns undefined if there is none */
export async function checkGiven(
  parts: ProofParts,
  visit: Visit,
  owner: Owner,
  form: URLSearchParams,
  by: GivenFactor['by'],
): Promise<{ readonly kind: 'right' } | Refused | undefined> {
  const [passkey, code] = [form.get(names.passkey) ?? '', form.get(names.code) ?? ''];
  if (passkey === '' && code === '') return undefined;
  const { address, device } = visit;
  const given = { passkey, code, browser: browserOf(parts, visit), address, device, by };
  return checkFactor(factorParts(parts), owner, given);
}

/** What is wrong with a second factor, or a password, as `explainRefusal` says it. */
export function explainProof(refused: Refused | undefined, hasFactor: boolean) {
  if (!refused) return undefined;
  return hasFactor
    ? explainRefusal(
        refused,
        'This was not right. A code works once, for half a minute: wait for the next one, then try again.',
        ['codes', ''],
      )
    : explainRefusal(refused);
}

/** The button that asks for a passkey; it takes the script of the asset `passkeys`. @param answer the field for the answer */
export function passkeyButton(use: 'create' | 'get', label: string, answer: string): Html {
  return html`${hiddenFields([[answer, '']])}
    <button type="button" data-passkey="${use}" data-answer="${answer}" hidden>${label}</button>
    <output class="hint">Passkeys need JavaScript.</output>`;
}

/** What asks for one of the owner's factors. */
export async function factorFields(
  parts: ProofParts,
  visit: Visit,
  { ownerId }: Owner,
  isInvalid: boolean,
): Promise<Html> {
  const factors = await listFactors(parts.accounts.sql, ownerId);
  const hasApp = factors.some(({ credentialId }) => credentialId === null);
  const hasPasskey = factors.some(({ credentialId }) => credentialId !== null);
  const party = partyOf(visit.request, parts);
  const code = {
    id: names.code,
    label: hasApp ? 'Code' : 'Recovery code',
    hint: hasApp
      ? 'The six digits that your authenticator app shows, or a recovery code.'
      : 'Each works once.',
    isInvalid,
  };
  return html`${
      hasPasskey &&
      (typeof party === 'string'
        ? html`<p class="hint">${party}</p>`
        : html`<p>${passkeyButton('get', 'Use a passkey', names.passkey)}</p>`)
    }
    ${inputField(
      code,
      html`autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required
      maxlength="40"`,
    )} <button class="${hasPasskey && !hasApp ? 'plain' : ''}">Confirm</button>`;
}

type SignedIn = Visit & { readonly session: OwnerSession; readonly shop?: MemberShop };

/** Asks signed-in owners again who they are, where a page demands a recent proof. */
export function createStepUp(parts: ProofParts) {
  const { accounts } = parts;

  /** Checks a factor in a form, or the password of an owner without one. */
  async function check(visit: SignedIn, form: URLSearchParams) {
    const { session, address, network, device } = visit;
    const { ownerId, email, secret } = session;
    const by = ownerActor(ownerId, secret, network);
    const password = form.get(names.password) ?? '';
    const isPassword =
      !session.hasFactor && password !== '' && !(await issuerOf(accounts, session));
    const result = isPassword
      ? await checkPassword(accounts, { email, password, address, by, device })
      : await checkGiven(parts, visit, session, form, by);
    if (result?.kind === 'right') await noteProof(accounts, session);
    return result;
  }

  /**
   * @param next the page to open then
   * @param form sent again instead, unless the way to prove it leaves this site, or it has secrets
   */
  async function proofPage(
    visit: SignedIn,
    refused: Refused | undefined,
    next: `/app${string}`,
    form?: URLSearchParams,
  ): Promise<Answer> {
    const { hasFactor, email } = visit.session;
    const refusal = explainProof(refused, hasFactor);
    const isInvalid = refused?.kind === 'wrong';
    const issuer = hasFactor ? undefined : await issuerOf(accounts, visit.session);
    const hasSecrets = visit.page?.secrets?.some((name) => form?.get(name));
    const kept = issuer || hasSecrets ? undefined : form;
    const fields = hasFactor
      ? await factorFields(parts, visit, visit.session, isInvalid)
      : issuer
        ? html`<p>
            <a class="button" href="${ssoPath(issuer.id, next, true)}"
              >Sign in again with ${issuer.name}</a
            >
          </p>`
        : html`${usernameField(email, names.email)}
            ${passwordField({ id: names.password, label: 'Password', isInvalid }, 'current-password')}
            <button>Confirm</button>`;
    const content = postForm(
      visit,
      kept ? visit.request.url : '/app/confirm',
      html`<p>
          ${
            kept
              ? 'What you entered is kept, and goes on once you confirm.'
              : form
                ? `Nothing was changed${hasSecrets ? ', and we keep no password or code' : ''}: enter it again once you have confirmed.`
                : 'The page opens once you confirm.'
          }
          This is asked again ${proofMinutes} minutes after the last time.
        </p>
        ${hiddenFields(kept ? [...kept].filter(([name]) => name !== 'token') : [['next', next]])}
        ${fields}`,
      'card narrow',
    );
    return page(visit, {
      title: 'Confirm that it is you',
      content,
      assets: ['passkeys'],
      status: form ? 403 : 200,
      ...refusal,
    });
  }

  return {
    isRecent({ provedAt }: OwnerSession): boolean {
      const now = accounts.clock.now();
      return provedAt !== null && now - provedAt.getTime() <= proofMinutes * 60_000;
    },
    check,
    /** Asks for a proof, and then opens the page. */
    show: (visit: SignedIn, next: `/app${string}`, refused?: Refused) =>
      proofPage(visit, refused, next),
    /**
     * Takes the proof out of a form.
     * @returns a page that asks for one, and sends the same form again if it can; undefined if the proof was right
     */
    async ask(visit: SignedIn, form: URLSearchParams): Promise<Answer | undefined> {
      const result = await check(visit, form);
      for (const name of Object.values(names)) form.delete(name);
      if (result?.kind === 'right') return undefined;
      return proofPage(visit, result, pageOf(visit), form);
    },
  };
}

/** The issuer that began a session, where an owner without a second factor signs in again. */
async function issuerOf({ sql, sso }: Accounts, { secret }: OwnerSession) {
  const id = await findSessionProvider(sql, fingerprint(secret));
  return id === undefined ? undefined : sso.find(id);
}

/** The page that a form is on. */
function pageOf({ site, page: visited, shop, request }: SignedIn): `/app${string}` {
  if (visited?.stepUp === 'open') return returnPath(request.url);
  const section = sectionOf(site, visited);
  return section ? addressOf(section, shop) : '/app';
}

/** Where signed-in owners prove who they are, and then open the page that was asked for. */
export function confirmPath(url: string): `/app${string}` {
  return `/app/confirm?${new URLSearchParams({ next: returnPath(url) })}`;
}

interface Address {
  baseUrl(): string;
  readonly isPublic: boolean;
}

/** The service as a browser knows it, or why browsers make no passkeys for its address. */
export function partyOf(
  { protocol, host }: FastifyRequest,
  { baseUrl, isPublic }: Address,
): RelyingParty | string {
  // Without a public URL, the service may be reached under any name of the machine.
  const url = new URL(isPublic ? baseUrl() : `${protocol}://${host}`);
  const { hostname: id, origin, port } = url;
  if (id === 'localhost' || (url.protocol === 'https:' && isIP(id.replace(/[[\]]/g, '')) === 0)) {
    return { id, origin };
  }
  return /^(?:127\.|\[::1\]$)/.test(id)
    ? `Passkeys need a name in the address. Open this service as http://localhost:${port} to use them.`
    : 'Passkeys need an address with https and a host name. The operator of this service can set one up.';
}
