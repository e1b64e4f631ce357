import type { FastifyRequest } from 'fastify';
import type { Answer } from '../../http/answer.ts';
import { may } from '../../accounts/rights.ts';
import { type Html, html } from '../../http/html.ts';
import type { Operation } from '../../operations/define.ts';
import { restV1 } from '../../operations/versions.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import {
  type ShopVisit,
  type OwnerPage,
  type OwnerParts,
  shopPage,
  listShopsOf,
} from '../pages.ts';
import { languageOf } from '../../reference/languages.ts';
import { codeBlock } from '../ui/elements.ts';
import { state } from '../ui/labels.ts';
import { formatMilliseconds } from '../ui/formats.ts';
import { developerPage, statusState, statusTexts, isLive, listKeyChoices } from './frame.ts';
import {
  type Parameter,
  type Texts,
  parametersOf,
  requestUrl,
  firstOperation,
  operationsFor,
  sampleTexts,
  textsFor,
} from './requests.ts';
import { snippetTabs } from './snippets.ts';
import type { Caller } from '../../access/gate.ts';
import { notFoundPage } from '../message-pages.ts';
import { clientNetwork } from '../../access/client-network.ts';
import { openSession } from '../../accounts/sessions.ts';
import { opens, shopPath } from '../site.ts';
import { type Option, hiddenFields, inputField, selectField, token } from '../ui/fields.ts';
import { createCookies } from '../cookies.ts';
import { problemIn } from '../view/choices.ts';

/** Runs operations with a key of the shop's. */
export function consolePages(parts: OwnerParts): OwnerPage[] {
  const { clock, calls } = parts;
  const endOf = (key: KeyListing) => {
    if (isLive(key, clock.now())) return undefined;
    return key.revokedAt ? 'revoked' : 'expired';
  };

  return [
    shopPage('/developers/console', {
      right: 'integration',
      acts: [],
      label: 'Console',
      hint: 'Developers',
      section: '/developers',
      async show(visit) {
        const [keys, samples] = await Promise.all([
          listKeyChoices(parts, visit.shop.id),
          sampleTexts(parts, visit),
        ]);
        const requested = visit.query.get('key') || undefined;
        const chosen = keys.find(({ id }) => id === requested);
        const offered = operationsFor(visit);
        const asked = offered.find(({ tool }) => tool === visit.query.get('operation'));
        const operation = asked ?? firstOperation(chosen?.scopes ?? [], offered);
        const suitable = keys.find(({ scopes }) => scopes.includes(operation.scope));
        return consolePage(visit, {
          problem: problemIn(visit.query, {
            operation: ['an operation', offered.map((each) => each.tool)],
            key: ['a key of this shop', keys.map(({ id }) => id)],
          }),
          baseUrl: parts.baseUrl(),
          operation,
          keys,
          keyId: (chosen ?? suitable ?? keys[0])?.id,
          endOf,
          texts: textsFor(operation, samples),
        });
      },
      async submit(visit, form) {
        const keys = await listKeyChoices(parts, visit.shop.id);
        const key = keys.find(({ id }) => id === form.get('key'));
        const operation = operationsFor(visit).find(({ tool }) => tool === form.get('operation'));
        if (!key || !operation) return notFoundPage(visit);
        const fields = parametersOf(operation).map(({ name }): [string, string] => [
          name,
          form.get(fieldPrefix + name)?.trim() ?? '',
        ]);
        const texts = textsFor(operation, Object.fromEntries(fields));
        const caller = callerOf(visit, key);
        const requestId = visit.request.id;
        const startedAt = clock.monotonic();
        const answer = await parts.askWithKey(operation, caller, texts, requestId);
        const milliseconds = clock.monotonic() - startedAt;
        calls.note(caller, {
          requestId,
          transport: 'page',
          operation: operation.tool,
          status: answer.status,
          milliseconds,
        });
        return consolePage(visit, {
          baseUrl: parts.baseUrl(),
          operation,
          keys,
          keyId: key.id,
          endOf,
          texts,
          shown: { answer, requestId, milliseconds },
        });
      },
    }),
  ];
}

/** What a request was answered. */
interface Shown {
  readonly answer: Answer<string | Buffer>;
  readonly requestId: string;
  readonly milliseconds: number;
}

interface ConsolePage {
  /** What is wrong with the address. */
  readonly problem?: string | undefined;
  readonly baseUrl: string;
  readonly operation: Operation;
  /** All of the shop's keys, the first choice first. */
  readonly keys: readonly KeyListing[];
  readonly keyId: string | undefined;
  /** Why a key is refused, if it is. */
  endOf(key: KeyListing): string | undefined;
  readonly texts: Texts;
  readonly shown?: Shown;
}

/** The name of a parameter's field, so that none is taken for a field of the form itself. */
export const fieldPrefix = 'input.';

function consolePage(visit: ShopVisit, parts: ConsolePage): Answer {
  const { problem, operation, keys, texts, baseUrl, shown } = parts;
  const { shop } = visit;
  const links = operationsFor(visit).map(
    ({ tool, title }) =>
      html`<a
        href="${shopPath(shop, `/developers/console?${consoleQuery(tool, parts.keyId)}`)}"
        ${tool === operation.tool && html`aria-current="true"`}
        >${title}</a
      >`,
  );
  const content = html`
    <div class="filters" role="group" aria-label="Operation">${links}</div>
    <div class="console">
      <section class="card">
        <h2>${operation.title}</h2>
        <p>${operation.description}</p>
        <p>
          <code><span class="method">GET</span> ${restV1.basePath}${operation.path}</code><br />
          <span class="quiet">MCP tool <code>${operation.tool}</code></span>
        </p>
        ${
          keys.length === 0
            ? html`<p>
                ${
                  opens(visit, '/keys/new')
                    ? html`To run it here,
                        <a href="${shopPath(shop, '/keys/new')}">create a key</a> first.`
                    : 'To run it here, ask an owner to create a key first.'
                }
              </p>`
            : requestForm(visit, parts)
        }
      </section>
      ${shown && answerSection(visit, shown)}
    </div>
    <section class="wide">
      <h2>In your code</h2>
      ${snippetTabs(requestUrl(baseUrl, operation, texts), languageOf(visit.request))}
    </section>
  `;
  const status = problem === undefined ? 200 : 400;
  return developerPage(visit, { title: 'Console', tab: 'console', content, problem, status });
}

function consoleQuery(tool: string, keyId: string | undefined): string {
  const query = new URLSearchParams({ operation: tool });
  if (keyId !== undefined) query.set('key', keyId);
  return query.toString();
}

function requestForm(
  visit: ShopVisit,
  { operation, keys, keyId, endOf, texts }: ConsolePage,
): Html {
  const options = keys.map((key): Option => {
    const end = endOf(key);
    return [key.id, `${key.name} …${key.lastFour}${end === undefined ? '' : ` (${end})`}`];
  });
  return html`<form method="post" action="${shopPath(visit.shop, '/developers/console')}">
    ${token(visit)} ${hiddenFields([['operation', operation.tool]])}
    ${selectField({
      id: 'key',
      label: 'Key',
      hint: 'Runs within the key’s permissions, and counts against its rate limit.',
      selected: keyId,
      options,
    })}
    ${parametersOf(operation).map((parameter) =>
      parameterField(parameter, texts[parameter.name] ?? ''),
    )}
    <button>Run</button>
  </form>`;
}

function parameterField({ name, schema, isRequired }: Parameter, text: string): Html {
  const values = schema['enum'] as readonly string[] | undefined;
  const parts = {
    id: `input-${name}`,
    name: fieldPrefix + name,
    label: html`<code>${name}</code>${isRequired && ', required'}`,
    hint: schema.description ?? '',
  };
  if (values) {
    const options = values.map((value): Option => [value, value]);
    return selectField({ ...parts, none: 'Any', selected: text, options });
  }
  const numeric = schema.type === 'integer' ? html`inputmode="numeric"` : undefined;
  return inputField({ ...parts, value: text }, html`autocomplete="off" ${numeric}`);
}

function answerSection(visit: ShopVisit, { answer, requestId, milliseconds }: Shown): Html {
  const { status, headers, body } = answer;
  const lines = Object.entries({ ...headers, 'x-request-id': requestId });
  const text = JSON.stringify(JSON.parse(String(body)), undefined, 2);
  return html`<section class="card reply" aria-live="polite">
    <h2>Answer</h2>
    <p class="status">
      ${state(statusState(status, `${status} ${statusTexts[status] ?? ''}`))}
      <span class="quiet">${formatMilliseconds(visit, milliseconds)}</span>
    </p>
    ${codeBlock(
      'answer-headers',
      'Response headers',
      lines.map(([name, value]) => `${name}: ${value}`).join('\n'),
    )}
    ${codeBlock('answer-body', 'Response body', text, 'json')}
  </section>`;
}

/** The key as a request with it would be known. */
function callerOf({ shop }: ShopVisit, key: KeyListing): Caller {
  return {
    shopId: shop.id,
    keyId: key.id,
    scopes: key.scopes,
    tier: shop.tier,
    currency: shop.currency,
    expiresAt: key.expiresAt?.getTime() ?? null,
    isRevoked: key.revokedAt !== null,
    networks: key.networks,
  };
}

type Parts = Pick<OwnerParts, 'store' | 'log' | 'accounts' | 'baseUrl'>;

/**
 * Finds the path of the page that runs requests, for a request by an owner who is signed in. Without a
 * session, and while sessions cannot be read, there is none.
 */
export function createConsoleFinder({ store, log, accounts, baseUrl }: Parts) {
  const cookies = createCookies({ baseUrl });
  return async ({ id, headers, ip }: FastifyRequest): Promise<string | undefined> => {
    const secret = cookies.read({ headers }).secretOf('session');
    if (secret === undefined) return undefined;
    try {
      const session = await openSession(accounts, secret, clientNetwork(ip));
      const shops = session ? await listShopsOf(store, session.ownerId) : [];
      const [shop, ...others] = shops.filter(({ role }) => may(role, 'integration'));
      return shop && (others.length === 0 ? shopPath(shop, '/developers') : '/app/shops');
    } catch (error) {
      log.warn({ requestId: id, err: error }, 'documentation shown as to a visitor');
      return undefined;
    }
  };
}
