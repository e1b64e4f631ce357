import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { Operation } from '../../operations/define.ts';
import { operations } from '../../operations/index.ts';
import { restV1 } from '../../operations/versions.ts';
import type { KeyListing } from '../../store/keys/keys.ts';
import type { ShopVisit } from '../pages.ts';
import { codeBlock } from '../ui/code-block.ts';
import { state } from '../ui/labels.ts';
import { shopPath, token } from '../ui/layout.ts';
import { formatMilliseconds } from '../ui/locale.ts';
import { developerPage } from './frame.ts';
import { type Parameter, parametersOf, requestUrl, type Texts } from './requests.ts';
import { snippetTabs } from './snippets.ts';
import { statusState, statusTexts } from './statuses.ts';

/** What a request was answered. */
interface Shown {
  readonly answer: Answer<string | Buffer>;
  readonly requestId: string;
  readonly milliseconds: number;
}

interface ConsolePage {
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

export function consolePage(visit: ShopVisit, parts: ConsolePage): Answer {
  const { operation, keys, texts, baseUrl, shown } = parts;
  const { shop } = visit;
  const links = operations.map(
    ({ tool, title }) =>
      html`<a
        href="${shopPath(shop, `/developers/console?${consoleQuery(tool, parts.keyId)}`)}"
        ${tool === operation.tool ? html`aria-current="true"` : undefined}
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
                To run it here, <a href="${shopPath(shop, '/keys/new')}">create a key</a> first.
              </p>`
            : form(visit, parts)
        }
      </section>
      ${shown && answerSection(visit, shown)}
    </div>
    <section class="wide">
      <h2>In your code</h2>
      ${snippetTabs(requestUrl(baseUrl, operation, texts))}
    </section>
  `;
  return developerPage(visit, { title: 'Console', tab: 'console', content });
}

function consoleQuery(tool: string, keyId: string | undefined): string {
  const query = new URLSearchParams({ operation: tool });
  if (keyId !== undefined) query.set('key', keyId);
  return query.toString();
}

function form(visit: ShopVisit, { operation, keys, keyId, endOf, texts }: ConsolePage): Html {
  const options = keys.map((key) => {
    const end = endOf(key);
    return html`<option value="${key.id}" ${key.id === keyId ? html`selected` : undefined}>
      ${key.name} …${key.lastFour}${end === undefined ? '' : ` (${end})`}
    </option>`;
  });
  return html`<form method="post" action="${shopPath(visit.shop, '/developers/console')}">
    ${token(visit)}
    <input type="hidden" name="operation" value="${operation.tool}" />
    <p class="field">
      <label for="key">Key</label>
      <select id="key" name="key" aria-describedby="key-hint">
        ${options}
      </select>
      <span class="hint" id="key-hint">
        Runs within the key’s permissions, and counts against its rate limit.
      </span>
    </p>
    ${parametersOf(operation).map((parameter) => field(parameter, texts[parameter.name] ?? ''))}
    <button>Run</button>
  </form>`;
}

function field({ name, schema, isRequired }: Parameter, text: string): Html {
  const { description = '' } = schema;
  const values = schema['enum'] as readonly string[] | undefined;
  const id = `input-${name}`;
  const described = html`id="${id}" name="${fieldPrefix}${name}" aria-describedby="${id}-hint"`;
  const control = values
    ? html`<select ${described}>
        <option value="">Any</option>
        ${values.map(
          (value) =>
            html`<option value="${value}" ${value === text ? html`selected` : undefined}>
              ${value}
            </option>`,
        )}
      </select>`
    : html`<input
        ${described}
        value="${text}"
        autocomplete="off"
        ${schema.type === 'integer' ? html`inputmode="numeric"` : undefined}
      />`;
  return html`<p class="field">
    <label for="${id}"><code>${name}</code>${isRequired ? ', required' : undefined}</label>
    ${control}
    <span class="hint" id="${id}-hint">${description}</span>
  </p>`;
}

function answerSection(visit: ShopVisit, { answer, requestId, milliseconds }: Shown): Html {
  const { status, headers, body } = answer;
  const lines = Object.entries({ ...headers, 'x-request-id': requestId });
  const text = JSON.stringify(JSON.parse(String(body)), undefined, 2);
  return html`<section class="card answer" aria-live="polite">
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
    ${codeBlock('answer-body', 'Response body', text)}
  </section>`;
}
