import { randomBytes } from 'node:crypto';
import type { Act } from '../../acts.ts';
import { fingerprint } from '../../accounts/sessions.ts';
import { roleNames } from '../../accounts/rights.ts';
import { contextOf, recordOf } from '../../accounts/sso/providers.ts';
import { parseIssuer } from '../../config/settings.ts';
import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { audited } from '../../store/owners/audit.ts';
import type { Transaction } from '../../store/database.ts';
import {
  type SsoProvider,
  deleteSsoProvider,
  findSessionProvider,
  findSsoProvider,
  upsertSsoProvider,
  verifySsoDomain,
} from '../../store/owners/sso.ts';
import { roles } from '../../vocabulary.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { codeBlock, notice } from '../ui/elements.ts';
import { choiceField, inputField, postForm, selectField, textField } from '../ui/fields.ts';
import { backTo, page } from '../ui/page.ts';
import { continueLink } from './sign-in.ts';
import { callbackPath } from './paths.ts';

const base = '/sso';
const maxLength = 500;

/** Where owners set up the issuer that signs in people of their mail domain. */
export function ssoSettingsPages(parts: OwnerParts): OwnerPage[] {
  const { accounts, clock } = parts;
  const { sql, sso } = accounts;
  const show = (visit: ShopVisit, problem?: Problem) => settingsPage(parts, visit, problem);
  /** Makes a change and enters it in the audit log, unless nothing changed. */
  const act = (
    visit: ShopVisit,
    what: Act,
    target: string,
    work: (tx: Transaction) => Promise<boolean>,
  ) => {
    const happened = { at: new Date(clock.now()), by: actorOf(visit), what, target };
    return audited(sql, visit.shop.id, happened, work);
  };
  return [
    shopPage(base, {
      right: 'ownership',
      stepUp: 'open',
      acts: ['sso_set_up'],
      secrets: ['client-secret'],
      label: 'Single sign-on',
      hint: 'OpenID Connect, identity provider, roles, passwords',
      show: (visit) => show(visit),
      async submit(visit, form) {
        const { id } = visit.shop;
        const known = await findSsoProvider(sql, id);
        const given = readForm(form, id, known);
        const problem = problemOf(given, form, known);
        if (problem || !sso.canStore) return show(visit, problem);
        const { domain, replacesPasswords, issuer } = given;
        if (replacesPasswords && !(known?.replacesPasswords && known.domain === domain)) {
          const current = await findSessionProvider(sql, fingerprint(visit.session.secret));
          if (!given.verifiedAt || current !== id) {
            const text = `Verify ${domain} and sign in by single sign-on once yourself, before passwords are off.`;
            return show(visit, { field: 'passwords', text, form });
          }
        }
        const secret = form.get('client-secret') || undefined;
        const clientSecret =
          secret === undefined ? given.clientSecret : sso.sealing.seal(secret, contextOf(id));
        const provider = { ...given, clientSecret };
        try {
          await sso.issuers.discover(sso.of(provider));
        } catch {
          const text = `${issuer} does not answer as an OpenID Connect issuer that can be reached from the internet.`;
          return show(visit, { field: 'issuer', text, form });
        }
        await act(visit, 'sso_set_up', issuer, (tx) => upsertSsoProvider(tx, provider));
        return backTo(visit, base, 'saved');
      },
    }),
    shopPage(`${base}/verify`, {
      right: 'ownership',
      stepUp: 'form',
      acts: ['sso_domain_verified'],
      section: base,
      async submit(visit) {
        const known = await findSsoProvider(sql, visit.shop.id);
        if (!known) return backTo(visit, base);
        const { domain } = known;
        if (!(await sso.isVerified(known))) {
          const text =
            'The record was not found. DNS may take an hour until everybody sees a new one.';
          return show(visit, { field: 'verify', text });
        }
        const isDone = await act(visit, 'sso_domain_verified', domain, (tx) =>
          verifySsoDomain(tx, known, new Date(clock.now())),
        );
        if (isDone) return backTo(visit, base, 'verified');
        const text = `Another shop here has verified ${domain}. Remove it there first.`;
        return show(visit, { field: 'verify', text });
      },
    }),
    shopPage(`${base}/remove`, {
      right: 'ownership',
      stepUp: 'form',
      acts: ['sso_removed'],
      section: base,
      async submit(visit) {
        const { id } = visit.shop;
        const known = await findSsoProvider(sql, id);
        await act(visit, 'sso_removed', known?.issuer ?? '', (tx) => deleteSsoProvider(tx, id));
        return backTo(visit, base, 'removed');
      },
    }),
  ];
}

interface Problem {
  readonly field:
    | 'issuer'
    | 'client-id'
    | 'client-secret'
    | 'domain'
    | 'passwords'
    | 'verify'
    | 'roles';
  readonly text: string;
  /** What was entered. */
  readonly form?: URLSearchParams;
}

/** What was entered; the secret is still the stored one. */
function readForm(
  form: URLSearchParams,
  shopId: number,
  known: SsoProvider | undefined,
): SsoProvider {
  const text = (name: string) => (form.get(name) ?? '').trim();
  const lines = (name: string) =>
    text(name)
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean);
  const domain = text('domain').toLowerCase();
  const isSame = known?.domain === domain;
  return {
    shopId,
    issuer: text('issuer'),
    clientId: text('client-id'),
    clientSecret: known?.clientSecret ?? '',
    domain,
    verification: isSame ? known.verification : randomBytes(16).toString('hex'),
    verifiedAt: isSame ? known.verifiedAt : null,
    roleClaim: text('claim') || null,
    roles: Object.fromEntries(roles.map((role) => [role, lines(role)])),
    defaultRole: roles.find((role) => role === text('default')) ?? null,
    replacesPasswords: form.has('passwords'),
  };
}

function problemOf(
  given: SsoProvider,
  form: URLSearchParams,
  known: SsoProvider | undefined,
): Problem | undefined {
  const fail = (field: Problem['field'], text: string) => ({ field, text, form });
  if (parseIssuer(given.issuer) === undefined) {
    return fail('issuer', 'Enter the address of the issuer, such as https://login.example.com.');
  }
  if (given.clientId === '')
    return fail('client-id', 'Enter the client ID that the issuer gave you.');
  // Kept, it would be sent to an issuer that it is not of.
  const isSame = known?.issuer === given.issuer && known.clientId === given.clientId;
  if (!form.get('client-secret') && !isSame)
    return fail('client-secret', 'Enter the client secret.');
  if (!/^(?=.{3,253}$)[a-z\d-]+(?:\.[a-z\d-]+)+$/.test(given.domain)) {
    return fail('domain', 'Enter the domain of your addresses, such as example.com.');
  }
  if (given.defaultRole === null && given.roleClaim === null) {
    return fail('roles', 'Choose a role for everybody, or name the claim that gives roles.');
  }
  return [...form.values()].some((value) => value.length > maxLength)
    ? fail('issuer', `Use at most ${maxLength} characters in each field.`)
    : undefined;
}

const notices: ReadonlyMap<string | null, string> = new Map([
  ['saved', 'Saved.'],
  ['verified', 'The domain is verified. People of it can sign in now.'],
  ['removed', 'Single sign-on is removed.'],
]);

async function settingsPage(
  { accounts, baseUrl }: OwnerParts,
  visit: ShopVisit,
  problem?: Problem,
): Promise<Answer> {
  const { shop } = visit;
  const provider = await findSsoProvider(accounts.sql, shop.id);
  const redirectUri = baseUrl() + callbackPath(shop.id);
  const entered = problem?.form;
  const valueOf = (name: string, stored: string | null | undefined) =>
    entered ? (entered.get(name) ?? '') : (stored ?? '');
  const input = (id: string, label: string, stored: string | null | undefined, hint?: string) =>
    inputField(
      { id, label, value: valueOf(id, stored), isInvalid: problem?.field === id, hint },
      html`maxlength="${maxLength}" autocomplete="off"`,
    );
  const replaces = entered ? entered.has('passwords') : provider?.replacesPasswords;
  const form = html`<p>Register this service at your identity provider with the redirect URI:</p>
    ${codeBlock('redirect-uri', 'Redirect URI', redirectUri)}
    ${input('issuer', 'Issuer', provider?.issuer, 'Such as https://login.example.com')}
    ${input('client-id', 'Client ID', provider?.clientId)}
    ${inputField(
      {
        id: 'client-secret',
        label: 'Client secret',
        isInvalid: problem?.field === 'client-secret',
        hint: provider && 'Leave it empty to keep the present one.',
      },
      html`type="password" autocomplete="off" maxlength="${maxLength}"`,
    )}
    ${input('domain', 'Mail domain', provider?.domain, 'Only people with an address of it can sign in.')}
    <h2>Roles</h2>
    ${input('claim', 'Claim that gives roles', provider?.roleClaim, 'Such as groups. Without one, members keep the role that the team gives them.')}
    ${roles.map((role) =>
      textField({
        id: role,
        label: `Values for the role ${roleNames[role]}`,
        hint: 'One on each line',
        value: valueOf(role, provider?.roles[role]?.join('\n')),
        rows: 3,
      }),
    )}
    ${selectField({
      id: 'default',
      label: 'Role of others',
      none: 'None: they cannot sign in',
      selected: valueOf('default', provider?.defaultRole),
      options: roles.map((role) => [role, roleNames[role]] as const),
      isInvalid: problem?.field === 'roles',
    })}
    ${choiceField(
      html`type="checkbox" name="passwords" ${replaces && html`checked`}`,
      'People of this domain cannot sign in with a password',
    )}
    <button>Save</button>`;
  const record = provider && recordOf(provider);
  const content = html`${!problem && notice(notices.get(visit.query.get('done')))}
  ${
    accounts.sso.canStore
      ? postForm(visit, shopPath(shop, base), form)
      : html`<p>
          The operator of this service has to set CREDENTIALS_KEY first, which encrypts the client
          secret.
        </p>`
  }
  ${
    record &&
    html`<section class="card">
        <h2>Domain</h2>
        ${
          provider.verifiedAt
            ? html`<p>
                  ${provider.domain} is verified. Keep the record: it is looked up when people sign
                  in.
                </p>
                ${continueLink({ id: shop.id, name: new URL(provider.issuer).host }, shopPath(shop, base))}`
            : html`<p>
                Add a TXT record to the DNS of ${provider.domain}, which shows that it is yours.
              </p>`
        }
        ${codeBlock('record-name', 'Name of the record', record.name)}
        ${codeBlock('record-text', 'Text of the record', record.text)}
        ${!provider.verifiedAt && postForm(visit, shopPath(shop, `${base}/verify`), html`<button>Verify</button>`, '')}
      </section>
      ${postForm(visit, shopPath(shop, `${base}/remove`), html`<button class="danger">Remove single sign-on</button>`, '')}`
  }`;
  return page(visit, { title: 'Single sign-on', content, problem: problem?.text });
}
