import { createSecret, revokeSecret, rotateSecret } from '../../access/secrets.ts';
import { isVendorSecret, pushSources, secretSealing, overlapUntil } from '../../push/sources.ts';
import { type PushSourceListing, listPushSources } from '../../store/push/sources.ts';
import { notFoundPage } from '../message-pages.ts';
import { recordPage } from '../record-page.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, actorOf, shopPage } from '../pages.ts';
import { backTo, page } from '../ui/page.ts';
import {
  actions,
  choiceField,
  hiddenFields,
  inputField,
  postForm,
  selectField,
  nameProblem,
  overlapRemark,
  readOverlap,
  nameField,
  overlapChoices,
} from '../ui/fields.ts';
import { type Vendor, type VendorName, isVendor, vendors } from './vendors.ts';
import { schemes } from '../../push/signature.ts';
import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { codeBlock, notice } from '../ui/elements.ts';
import { showTime } from '../ui/formats.ts';
import { shopPath } from '../site.ts';

const base = '/sources/push';

/** The sources of a shop that are not revoked. */
export async function readPushSources(
  { store, clock }: OwnerParts,
  shopId: number,
): Promise<PushSourceListing[]> {
  const sources = await listPushSources(store.write, shopId, clock.now());
  return sources.filter(({ revokedAt }) => revokedAt === null);
}

/** The pages where owners create, rotate and revoke the sources that may push records. */
export function pushPages(parts: OwnerParts): OwnerPage[] {
  const { store, clock, log, platforms } = parts;
  const sealing = secretSealing(platforms.credentialsKeys);
  const sourceParts = { sql: store.write, clock, log };
  const find = async ({ shop, params }: ShopVisit) =>
    (await readPushSources(parts, shop.id)).find(({ sourceId }) => sourceId === params['sourceId']);

  return [
    shopPage(`${base}/new`, {
      right: 'integration',
      stepUp: 'open',
      label: 'Create push source',
      parent: '/sources',
      show: async (visit) => newPushPage(visit),
    }),
    shopPage(base, {
      right: 'integration',
      acts: ['source_created'],
      stepUp: 'form',
      secrets: ['secret'],
      parent: '/sources',
      async submit(visit, form) {
        const { shop } = visit;
        const name = (form.get('name') ?? '').trim();
        const sourceId = form.get('id') ?? '';
        if (!pushSources.isId(sourceId)) return newPushPage(visit);
        const kind = form.get('kind') ?? standard;
        const problem = problemOf(name, kind);
        if (problem !== undefined) return newPushPage(visit, { name, sourceId, kind }, problem);
        const scheme = isVendor(kind) ? kind : undefined;
        const baseUrl = parts.baseUrl();
        if (scheme && !isVendorSecret(secretOf(form))) {
          const wrong = form.get('step') === 'secret' ? noSecret : undefined;
          return newVendorPage(visit, { scheme, sourceId, name, baseUrl }, wrong);
        }
        const target = { shopId: shop.id, id: sourceId, actor: actorOf(visit) };
        const request = { name, scheme, given: scheme && secretOf(form), sealing };
        const created = await createSecret(pushSources, sourceParts, target, request);
        if (created.kind === 'already') {
          return backTo(visit, '/sources', scheme ? 'push-created' : 'push-already');
        }
        if (created.kind !== 'created') return backTo(visit, '/sources');
        if (scheme) {
          const remark = 'Push source created. Messages are stored as they arrive.';
          return vendorSetupPage(visit, { scheme, sourceId, name, baseUrl }, remark);
        }
        return createdPushPage(visit, { ...created, sourceId, baseUrl });
      },
    }),
    recordPage(`${base}/:sourceId/rotate`, find, {
      right: 'integration',
      acts: ['source_rotated'],
      stepUp: 'open',
      secrets: ['secret'],
      parent: '/sources',
      show: (visit, source) => rotatePushPage(visit, source, clock.now()),
      async submit(visit, source, form) {
        const overlap = readOverlap(form);
        if (overlap === undefined) return rotatePushPage(visit, source, clock.now());
        const given = isVendor(source.scheme) ? secretOf(form) : undefined;
        if (given !== undefined && !isVendorSecret(given)) {
          return rotatePushPage(visit, source, clock.now(), noSecret);
        }
        const { shopId, sourceId } = source;
        const target = { shopId, id: sourceId, actor: actorOf(visit) };
        const before = beforeIn(form);
        const renewal = { given, sealing, overlapMilliseconds: overlap * 3_600_000, before };
        const rotated = await rotateSecret(pushSources, sourceParts, target, renewal);
        if (rotated.kind === 'already') return backTo(visit, '/sources', 'push-rotated-before');
        if (rotated.kind !== 'created') return backTo(visit, '/sources');
        if (given !== undefined) return backTo(visit, '/sources', 'push-rotated');
        const ended = 'has ended. Requests signed with it are refused.';
        const remark = overlapRemark('secret', overlap, ended);
        return createdPushPage(visit, { ...rotated, sourceId, baseUrl: parts.baseUrl() }, remark);
      },
    }),
    recordPage(`${base}/:sourceId/setup`, find, {
      right: 'integration',
      parent: '/sources',
      show(visit, { sourceId, name, scheme }) {
        if (!isVendor(scheme)) return notFoundPage(visit);
        return vendorSetupPage(visit, { sourceId, name, scheme, baseUrl: parts.baseUrl() });
      },
    }),
    shopPage(`${base}/:sourceId/revoke`, {
      right: 'integration',
      acts: ['source_revoked'],
      parent: '/sources',
      async show(visit) {
        const source = await find(visit);
        return source ? revokePushPage(visit, source) : notFoundPage(visit);
      },
      // A source that is already revoked counts, too: two tabs may send the form.
      async submit(visit) {
        const { shop, params } = visit;
        const target = { shopId: shop.id, id: params['sourceId'] ?? '', actor: actorOf(visit) };
        const isKnown = await revokeSecret(pushSources, sourceParts, target);
        return isKnown ? backTo(visit, '/sources', 'push-revoked') : notFoundPage(visit);
      },
    }),
  ];
}

function problemOf(name: string, kind: string): string | undefined {
  if (kind !== standard && !isVendor(kind)) return 'Choose what sends, from the list.';
  return nameProblem(name, 'source');
}

const noSecret = 'Paste the secret as the vendor shows it: 8 to 500 characters without spaces.';

function secretOf(form: URLSearchParams): string {
  return (form.get('secret') ?? '').trim();
}

/** What a form to rotate was shown with, so that one that is sent twice does not end the secret that is still in use. */
function beforeIn(form: URLSearchParams): Date | null | undefined {
  const text = form.get('before');
  if (text === null) return undefined;
  return /^\d{1,15}$/.test(text) ? new Date(Number(text)) : null;
}

const standard = 'standard';
/** What may send, with our word for it. */
const kinds: readonly (readonly [string, string])[] = [
  [standard, 'My own program (Standard Webhooks)'],
  ...Object.entries(vendors).map(
    ([name, { title, brings }]) => [name, `${title}: ${brings}`] as const,
  ),
];

function newPushPage(
  visit: ShopVisit,
  { name = '', sourceId = pushSources.newId(), kind = standard } = {},
  problem?: string,
): Answer {
  const sources = shopPath(visit.shop, '/sources');
  const content = postForm(
    visit,
    `${sources}/push`,
    html`${hiddenFields([['id', sourceId]])}
    ${selectField({ id: 'kind', label: 'What sends', selected: kind, options: kinds })}
    ${nameField(
      name,
      'To recognise it later, such as “Billing” or “Cancel flow”.',
      problem !== undefined,
    )}
    ${actions(html`<button>Continue</button>`, sources)}`,
  );
  return page(visit, { title: 'Create push source', content, problem });
}

/** The only page that shows a secret: the direct answer to the form. @param remark shown above the secret */
function createdPushPage(
  visit: ShopVisit,
  { sourceId, secret, baseUrl }: Readonly<Record<'sourceId' | 'secret' | 'baseUrl', string>>,
  remark?: string,
): Answer {
  const content = html`
    ${notice(remark)}
    <section class="card">
      <h2>Signing secret</h2>
      <p>Copy it now. It is not shown again.</p>
      ${codeBlock('secret', 'Signing secret', secret)}
    </section>
    <section class="card">
      <h2>Address</h2>
      <p>
        Send records here as NDJSON or a JSON array, signed by the scheme of
        <a href="https://www.standardwebhooks.com">Standard Webhooks</a>.
      </p>
      ${codeBlock('address', 'Address', `${baseUrl}/ingest/v1/${sourceId}/records`)}
    </section>
    <form class="card" method="get" action="${shopPath(visit.shop, '/sources')}">
      ${choiceField(html`type="checkbox" required`, 'I have copied the secret')}
      <button>Done</button>
    </form>
  `;
  const title = remark === undefined ? 'Push source created' : 'Secret rotated';
  return page(visit, { title, content, status: 201 });
}

interface VendorSource {
  readonly scheme: VendorName;
  readonly sourceId: string;
  readonly name: string;
  readonly baseUrl: string;
}

/** The second step: the address for the vendor, which then shows its secret. */
function newVendorPage(visit: ShopVisit, source: VendorSource, problem?: string): Answer {
  const { scheme, sourceId, name } = source;
  const { title, steps } = vendors[scheme];
  const sources = shopPath(visit.shop, '/sources');
  const content = html`<section class="card">
      <h2>Give ${title} this address</h2>
      ${addressPart(source)}
      <ol>
        ${steps.map((step) => html`<li>${step}</li>`)}
      </ol>
    </section>
    ${postForm(
      visit,
      `${sources}/push`,
      html`${hiddenFields(Object.entries({ id: sourceId, name, kind: scheme }))}
      ${secretField(vendors[scheme], problem)}
      ${actions(html`<button name="step" value="secret">Create push source</button>`, sources)}`,
    )}`;
  return page(visit, { title: `Connect ${title}`, content, problem });
}

function addressPart({ scheme, sourceId, baseUrl }: VendorSource): Html {
  const address = `${baseUrl}/ingest/v1/${sourceId}/mapped/${schemes[scheme].mapping}`;
  return codeBlock('address', 'Address', address);
}

function secretField({ title, secretLabel }: Vendor, problem: string | undefined): Html {
  const hint = `It proves that messages are from ${title}. It is not shown again here.`;
  return inputField(
    { id: 'secret', label: secretLabel, hint },
    html`type="password" autocomplete="off" spellcheck="false" required
    ${problem !== undefined && html`aria-invalid="true"`}`,
  );
}

/** The address of a source, and what to do at the vendor. */
function vendorSetupPage(visit: ShopVisit, source: VendorSource, remark?: string): Answer {
  const { title, steps, brings } = vendors[source.scheme];
  const content = html`${notice(remark)}
    <section class="card">
      ${headingOf(source)}
      <p>${title} sends ${brings} to this address:</p>
      ${addressPart(source)}
      <ol>
        ${steps.slice(0, -1).map((step) => html`<li>${step}</li>`)}
      </ol>
      <p class="actions">
        <a class="button" href="${shopPath(visit.shop, '/sources')}">Done</a>
      </p>
    </section>`;
  const status = remark === undefined ? 200 : 201;
  return page(visit, { title: `Set up ${title}`, content, status });
}

/** @param problem what is wrong with the secret that the vendor is said to sign with */
function rotatePushPage(
  visit: ShopVisit,
  source: PushSourceListing,
  now: number,
  problem?: string,
): Answer {
  const { sourceId, scheme } = source;
  const until = overlapUntil(source, now);
  const vendor = isVendor(scheme) ? vendors[scheme] : undefined;
  const title = vendor ? 'Replace secret' : 'Rotate secret';
  const step = vendor
    ? `Make a new secret at ${vendor.title}, and paste it here.`
    : 'A new secret replaces the old one.';
  const sources = shopPath(visit.shop, '/sources');
  const content = postForm(
    visit,
    `${sources}/push/${sourceId}/rotate`,
    html`${hiddenFields([['before', String(source.previousUntil?.getTime() ?? '')]])}
      ${headingOf(source)}
      <p>${step} Both work until the old one expires.</p>
      ${
        until &&
        html`<p>
          The secret before the current one still works until ${showTime(visit, until)}.
          <strong>It ends as soon as you continue.</strong>
        </p>`
      }
      ${vendor && secretField(vendor, problem)} ${overlapChoices('The old secret expires')}
      ${actions(html`<button>${title}</button>`, sources, 'Keep secret')}`,
  );
  return page(visit, { title, content, problem });
}

function revokePushPage(visit: ShopVisit, source: PushSourceListing): Answer {
  const sources = shopPath(visit.shop, '/sources');
  const content = postForm(
    visit,
    `${sources}/push/${source.sourceId}/revoke`,
    html`${headingOf(source)}
      <p>
        Requests of this source fail from now on. What it has sent stays. This cannot be undone.
      </p>
      ${actions(html`<button class="danger">Revoke push source</button>`, sources, 'Keep push source')}`,
  );
  return page(visit, { title: 'Revoke push source?', content });
}

const headingOf = ({ name, sourceId }: Pick<PushSourceListing, 'name' | 'sourceId'>) =>
  html`<h2>${name} <code class="quiet">${sourceId}</code></h2>`;
