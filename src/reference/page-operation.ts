import type { OperationObject, ParameterObject, ResponseObject } from './document.ts';
import { type Html, html } from '../http/html.ts';
import type { JsonSchema } from '../operations/json-schema.ts';
import { anchorOf, fieldTable, fieldsOf, nameOf, prose } from './page-parts.ts';

interface Endpoint {
  readonly path: string;
  readonly operation: OperationObject;
  /** Other paths of the operation. */
  readonly aliases: readonly string[];
  readonly body: Body;
}

/** The schema of a successful response, and its name in the document. */
interface Body {
  readonly name: string;
  readonly schema: JsonSchema;
}

export function bodyOf(
  { responses }: OperationObject,
  schemas: Readonly<Record<string, JsonSchema>>,
): Body {
  const name = nameOf(responses['200']?.content['application/json'].schema ?? {});
  return { name, schema: schemas[name] ?? {} };
}

/** Renders one endpoint: its description, with an example beside it. */
export function renderOperation(
  serverUrl: string,
  { path, operation, aliases, body }: Endpoint,
): Html {
  const { operationId, summary, description, parameters, responses } = operation;
  const { '200': answer, ...refusals } = responses;
  const content = answer?.content['application/json'];
  const example = Object.values(content?.examples ?? {})[0]?.value;
  return html` <article
    class="operation"
    id="${operationId}"
    aria-labelledby="${operationId}-title"
  >
    <div class="said">
      <h3 id="${operationId}-title">${summary}</h3>
      <p class="address">
        <code><span class="method">GET</span> ${path}</code>
      </p>
      ${description.split('\n\n').map((text) => html`<p>${prose(text)}</p>`)}
      ${aliases.map((alias) => html`<p>Also at <code>${alias}</code>, permanently.</p>`)}
      <h4>Parameters</h4>
      ${parameters.length > 0 ? parameterTable(parameters, summary) : html`<p class="lead">None.</p>`}
      <h4 id="${anchorOf(body.name)}">Response: <code>${body.name}</code></h4>
      <p>${prose(body.schema.description ?? '')}</p>
      ${fieldTable(`Response fields: ${summary}`, fieldsOf(body.schema))}
      <h4>Errors</h4>
      ${statusTable(refusals, summary)}
    </div>
    <div class="shown">
      <h4>Request</h4>
      <pre class="command"><code>${curlOf(serverUrl + path, parameters)}</code></pre>
      <h4>Answer</h4>
      <pre><code>${JSON.stringify(example, undefined, 2)}</code></pre>
    </div>
  </article>`;
}

function parameterTable(parameters: readonly ParameterObject[], summary: string): Html {
  return fieldTable(
    `Parameters: ${summary}`,
    parameters.map(({ name, in: place, required, description, schema }) => ({
      name,
      schema: { ...schema, description },
      label: `${place === 'path' ? 'in the path' : required ? 'required' : 'optional'}, `,
    })),
  );
}

function statusTable(refusals: Readonly<Record<string, ResponseObject>>, summary: string): Html {
  const rows = Object.entries(refusals).map(([status, { description, content }]) => {
    const messages = Object.values(content['application/json'].examples).map(
      ({ value }) => (value as { message: string }).message,
    );
    return html`<tr>
      <th scope="row">${status}</th>
      <td>
        ${prose(description)}${messages.map((message) => html`<span class="message">${message}</span>`)}
      </td>
    </tr>`;
  });
  return html`<table class="statuses" aria-label="Errors: ${summary}">
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">When, and the message</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** A command to paste into a shell, with the example values filled in. */
function curlOf(address: string, parameters: readonly ParameterObject[]): string {
  const given = parameters.filter(({ example }) => example !== undefined);
  const filled = given.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    address,
  );
  const query = new URLSearchParams(
    given.filter((one) => one.in === 'query').map(({ name, example }) => [name, String(example)]),
  ).toString();
  return `curl -H "Authorization: Bearer $RETENTION_KEY" \\\n  '${filled}${query && `?${query}`}'`;
}
