import { randomUUID } from 'node:crypto';
import {
  appAddress,
  contextOfApp,
  isAppSecret,
  newAppSecret,
  readCode,
  stepOf,
} from '../../accounts/factors/codes.ts';
import { addFactor, kindOf, removeFactor, replaceCodes } from '../../accounts/factors/factors.ts';
import { verifyCreation } from '../../accounts/factors/passkeys.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { type Factor, countRecoveryCodes, listFactors } from '../../store/owners/factors.ts';
import { factorLetter } from '../account/letters.ts';
import { type OwnerPage, type OwnerParts, type OwnerVisit, actorOf, ownerPage } from '../pages.ts';
import { shopPath } from '../site.ts';
import { codeBlock, notice } from '../ui/elements.ts';
import { hiddenFields, inputField, nameField, nameProblem, postForm, token } from '../ui/fields.ts';
import { showDay } from '../ui/formats.ts';
import { page, redirect } from '../ui/page.ts';
import { hiddenHead, plainTable } from '../ui/table.ts';
import { partyOf, browserOf, factorParts, factorsPath, passkeyButton } from './proof.ts';
import { encodeQR } from 'qr';

const appPath = `${factorsPath}/app` as const;

/** Where owners add and remove second factors, some of which replace their password. */
export function factorPages(parts: OwnerParts): OwnerPage[] {
  const { accounts, clock } = parts;
  const { sealing } = factorParts(parts);

  const show = (visit: OwnerVisit, problem?: string, name?: string) =>
    factorsPage(parts, visit, problem, name);

  /** Adds a factor, and tells its owner by mail. With the first one, shows the recovery codes. */
  async function add(visit: OwnerVisit, factor: Parameters<typeof addFactor>[2]): Promise<Answer> {
    const added = await addFactor(accounts, visit.session, factor, actorOf(visit));
    if (added.kind === 'too many') return show(visit, 'You have ten. Remove one first.');
    if (added.kind === 'added') mail(visit, 'added', factor);
    return added.kind === 'added' && added.codes
      ? codesPage(visit, added.codes)
      : redirect(`${factorsPath}?done=added`);
  }

  function mail(
    { session }: OwnerVisit,
    what: Parameters<typeof factorLetter>[1],
    factor: Pick<Factor, 'credentialId'>,
  ): void {
    const link = parts.baseUrl() + factorsPath;
    parts.outbox.post(`a second factor ${what}`, async () =>
      factorLetter(session.email, what, kindOf(factor), link),
    );
  }

  return [
    ownerPage(factorsPath, {
      label: 'Second factor',
      hint: 'Account',
      parent: '/app/account',
      stepUp: 'open',
      show: (visit) => show(visit),
    }),
    ownerPage(`${factorsPath}/passkey`, {
      acts: ['factor_added', 'recovery_codes_made'],
      section: factorsPath,
      stepUp: 'form',
      async submit(visit, form) {
        const name = (form.get('name') ?? '').trim();
        const problem = nameProblem(name, 'passkey');
        if (problem !== undefined) return show(visit, problem, name);
        const browser = browserOf(parts, visit);
        const made =
          browser && (await verifyCreation(accounts, browser, form.get('passkey') ?? ''));
        return made
          ? add(visit, { factorId: randomUUID(), name, ...made })
          : show(visit, 'The passkey was not added. Try again, within five minutes.', name);
      },
    }),
    ownerPage(appPath, {
      acts: ['factor_added', 'recovery_codes_made'],
      section: factorsPath,
      stepUp: 'open',
      secrets: ['secret', 'code'],
      show: async (visit) => appPage(visit, newAppSecret(), randomUUID()),
      async submit(visit, form) {
        const [secret, factorId] = [form.get('secret') ?? '', form.get('id') ?? ''];
        if (!isAppSecret(secret) || !/^[0-9a-f-]{36}$/.test(factorId)) return redirect(appPath);
        const step = stepOf(secret, readCode(form.get('code') ?? ''), clock.now());
        if (step === undefined) {
          const problem =
            'This is not the code that the app shows now. Check its clock, then enter the next one.';
          return appPage(visit, secret, factorId, problem);
        }
        const key = sealing.seal(secret, contextOfApp(visit.session));
        const name = 'Authenticator app';
        return add(visit, { factorId, credentialId: null, name, key, counter: step });
      },
    }),
    ownerPage(`${factorsPath}/remove`, {
      acts: ['factor_removed'],
      section: factorsPath,
      stepUp: 'form',
      async submit(visit, form) {
        const id = form.get('factor') ?? '';
        const removed = await removeFactor(accounts, visit.session, id, actorOf(visit));
        if (removed) mail(visit, 'removed', removed);
        return redirect(`${factorsPath}?done=removed`);
      },
    }),
    ownerPage(`${factorsPath}/codes`, {
      acts: ['recovery_codes_made'],
      section: factorsPath,
      stepUp: 'form',
      async submit(visit, form) {
        const before = Number(form.get('made'));
        const codes = await replaceCodes(accounts, visit.session, before, actorOf(visit));
        return codes ? codesPage(visit, codes) : redirect(factorsPath);
      },
    }),
  ];
}

const notices: ReadonlyMap<string | null, string> = new Map([
  ['added', 'Added. It is asked for when you sign in.'],
  ['removed', 'Removed.'],
]);

/** @param name of the passkey that is to be added */
async function factorsPage(
  parts: OwnerParts,
  visit: OwnerVisit,
  problem?: string,
  name = '',
): Promise<Answer> {
  const { ownerId } = visit.session;
  const [factors, codes] = await Promise.all([
    listFactors(parts.accounts.sql, ownerId),
    countRecoveryCodes(parts.accounts.sql, ownerId),
  ]);
  const party = partyOf(visit.request, parts);
  const demanding = visit.shops.find(({ id }) => String(id) === visit.query.get('required'));
  const isDemanded = demanding !== undefined && factors.length === 0;
  const content = html`
    ${notice(notices.get(visit.query.get('done')))}
    ${notice(
      isDemanded
        ? html`${demanding.name} opens once you have set up a second factor. You can also
            <a href="${shopPath(demanding, '/leave')}">leave it</a>.`
        : undefined,
    )}
    <section class="card">
      <h2>Your second factors</h2>
      ${
        factors.length === 0
          ? html`<p>
              None yet: anyone who knows your password can sign in. The first one that you add signs
              you out everywhere else.
            </p>`
          : factorTable(visit, factors)
      }
    </section>
    <section class="card">
      <h2>Add a passkey</h2>
      <p>
        Your device keeps it, and asks for your fingerprint, face or PIN. You sign in with it alone.
      </p>
      ${
        typeof party === 'string'
          ? html`<p class="hint">${party}</p>`
          : html`<noscript><p class="hint">Passkeys need JavaScript.</p></noscript>
              <div data-passkeys hidden>
                ${postForm(
                  visit,
                  `${factorsPath}/passkey`,
                  html`${nameField(name, 'Such as the device that keeps it.', problem !== undefined)}
                  ${passkeyButton('create', 'Add passkey', 'passkey')}`,
                  '',
                )}
              </div>`
      }
    </section>
    <section class="card">
      <h2>Add an authenticator app</h2>
      <p>It shows a code that you enter after your password. It works without JavaScript.</p>
      <p><a class="button plain" href="${appPath}">Set up an app</a></p>
    </section>
    ${
      factors.length > 0 &&
      html`<section class="card">
        <h2>Recovery codes</h2>
        <p>
          ${codes.left} of ${codes.all} are left. Each signs you in once when you have lost your
          other factors. New codes replace all of these.
        </p>
        ${postForm(
          visit,
          `${factorsPath}/codes`,
          html`${hiddenFields([['made', String(codes.madeAt?.getTime())]])}
            <button class="plain">Make new codes</button>`,
          '',
        )}
      </section>`
    }
  `;
  return page(visit, { title: 'Second factor', content, assets: ['passkeys'], problem });
}

function factorTable(visit: OwnerVisit, factors: readonly Factor[]): Html {
  const remove = ({ factorId, name }: Factor) =>
    html`<form method="post" action="${factorsPath}/remove">
      ${token(visit)}
      <button class="plain small" name="factor" value="${factorId}" aria-label="Remove ${name}">
        Remove
      </button>
    </form>`;
  return plainTable(
    factors,
    [
      ['Name', ({ name }) => name, 'head'],
      ['Kind', ({ credentialId }) => (credentialId === null ? 'App' : 'Passkey')],
      ['Added', ({ createdAt }) => showDay(visit, createdAt)],
      ['Last used', ({ usedAt }) => (usedAt ? showDay(visit, usedAt) : '–')],
      [hiddenHead('Remove'), remove],
    ],
    { caption: 'Your second factors' },
  );
}

function appPage(visit: OwnerVisit, secret: string, id: string, problem?: string): Answer {
  const address = appAddress(visit.session.email, secret);
  const content = postForm(
    visit,
    appPath,
    html`<p>Scan this with the app, or enter the key there.</p>
      ${qrCode(address, 'QR code with the key below')} ${codeBlock('key', 'Key', secret)}
      ${hiddenFields([
        ['secret', secret],
        ['id', id],
      ])}
      ${inputField(
        {
          id: 'code',
          label: 'Code',
          hint: 'The six digits that the app shows now.',
          isInvalid: problem !== undefined,
        },
        html`inputmode="numeric" autocomplete="one-time-code" required maxlength="10"`,
      )}
      <button>Add app</button>`,
    'card narrow',
  );
  return page(visit, { title: 'Authenticator app', content, problem });
}

/** In the answer to the form, since they are shown once. */
function codesPage(visit: OwnerVisit, codes: readonly string[]): Answer {
  const content = html`<section class="card">
    <p>
      Copy them now, and keep them where you keep passwords. We keep only fingerprints of them, so
      they cannot be shown again, not even by us.
    </p>
    ${codeBlock('codes', 'Recovery codes', codes.join('\n'))}
    <p>Each signs you in once when you have lost your other factors.</p>
    <p>
      <a class="button" href="/app">Go to your shops</a> <a href="${factorsPath}">Second factor</a>
    </p>
  </section>`;
  return page(visit, { title: 'Recovery codes', content, status: 201 });
}

/** A QR code, dark on light in both colour schemes, as cameras need it. @param label for screen readers */
function qrCode(text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { border: 2 });
  const path = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  );
  return html`<svg
    role="img"
    aria-label="${label}"
    viewBox="0 0 ${rows.length} ${rows.length}"
    width="220"
    height="220"
    shape-rendering="crispEdges"
  >
    <rect width="100%" height="100%" fill="#fff" />
    <path d="${path.join('')}" fill="#000" />
  </svg>`;
}
