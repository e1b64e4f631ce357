import type { Operation } from '../operations/define.ts';
import type { RestVersion } from '../operations/versions.ts';
import { introduction, toMarkdown } from './introduction.ts';
import { toJsonSchema } from '../operations/json-schema.ts';
import type { OpenApiDocument } from './document.ts';

interface Guide {
  readonly path: string;
  readonly title: string;
  readonly about: string;
}

/**
 * Describes the whole service in one text, for models that use it.
 * @param guides what else there is to read, as Markdown
 * @see https://llmstxt.org: a title, a summary, and sections of Markdown
 */
export function renderLlmsText(
  { info, servers }: OpenApiDocument,
  version: RestVersion,
  guides: readonly Guide[],
): string {
  const { basePath, operations } = version;
  const serverUrl = servers[0].url;
  return [
    `# ${info.title}`,
    `> ${info.summary} The same ${operations.length} operations are REST endpoints and MCP tools, with the same keys, scopes and limits. All of them only read.`,
    [
      `- [Reference](${serverUrl}/docs/reference): every field and error, for people`,
      `- [Reference as Markdown](${serverUrl}/docs/reference.md): all of it in one file, for models`,
      `- [OpenAPI](${serverUrl}${basePath}/openapi.json): the REST API for machines`,
      `- MCP: ${serverUrl}/api/mcp`,
    ].join('\n'),
    '## Guides',
    guides
      .map(({ path, title, about }) => `- [${title}](${serverUrl}${path}): ${about}`)
      .join('\n'),
    '## Operations',
    ...operations.map((operation) => describe(operation, basePath)),
    '## MCP',
    `POST one JSON-RPC 2.0 message to \`${serverUrl}/api/mcp\`, with \`Authorization: Bearer <key>\` and \`Content-Type: application/json\` (Streamable HTTP without sessions and without streams). Revisions 2026-07-28 and 2025-06-18 are served side by side, chosen by each request; without a declared version it is 2025-06-18. \`tools/list\` shows the tools that the key's scopes permit. A result of \`tools/call\` carries the REST body twice: as text and as \`structuredContent\`. Bad arguments, and an id that is not the shop's, are results with \`isError\` and a plain text.`,
    `${toMarkdown(introduction(serverUrl, version))}\n`,
  ].join('\n\n');
}

function describe(operation: Operation, basePath: string): string {
  const { tool, path, pathParameter, scope, toolDescription, input } = operation;
  const { properties = {}, required = [] } = toJsonSchema(input, 'input');
  return [
    `### ${tool}`,
    toolDescription,
    [
      `- MCP tool \`${tool}\`; REST \`GET ${basePath}${path}\`${
        pathParameter ? `, where {${pathParameter.name}} is ${pathParameter.input}` : ''
      }`,
      `- Scope: \`${scope}\``,
      ...Object.entries(properties).map(
        ([name, { type, description, enum: values }]) =>
          `- \`${name}\` (${type}, ${required.includes(name) ? 'required' : 'optional'}): ${description}${
            Array.isArray(values) ? ` One of ${values.join(', ')}.` : ''
          }`,
      ),
    ].join('\n'),
  ].join('\n\n');
}
