import { tiers } from '../../access/tiers.ts';
import type { Answer } from '../../http/answer.ts';
import { html } from '../../http/html.ts';
import { restV1 } from '../../operations/versions.ts';
import { createKeyLink, locked } from '../keys/list.ts';
import { type OwnerPage, type OwnerParts, type ShopVisit, shopPage } from '../pages.ts';
import { codeBlock } from '../ui/elements.ts';
import { keyVariable, languageOf } from '../../reference/languages.ts';
import { agentTabs, snippetTabs } from './snippets.ts';
import { developerPage } from './frame.ts';
import { firstOperation, requestUrl, restBase, sampleTexts, textsFor } from './requests.ts';
import { shopPath } from '../site.ts';

const documents = [
  ['/docs', 'Guides and reference'],
  ['/docs/definitions', 'How each figure is defined'],
  ['/docs/mcp', 'Agents and MCP'],
  ['/llms.txt', 'llms.txt, the summary for language models'],
  [`${restV1.basePath}/openapi.json`, 'OpenAPI document'],
] as const;

export const startPages = (parts: OwnerParts): OwnerPage[] => [
  shopPage('/developers', {
    right: 'integration',
    label: 'Developers',
    hint: 'Get started',
    navigation: { group: 'Integrate', icon: 'keys' },
    show: (visit) => startPage(parts, visit),
  }),
];

/** Where an integration starts: address, request, agents, documentation. */
async function startPage(parts: OwnerParts, visit: ShopVisit): Promise<Answer> {
  const { shop } = visit;
  const baseUrl = parts.baseUrl();
  const samples = await sampleTexts(parts, visit);
  const { hasApiAccess } = tiers[shop.tier];
  const operation = firstOperation([]);
  const url = requestUrl(baseUrl, operation, textsFor(operation, samples));
  const content = html`
    ${!hasApiAccess && locked(visit)}
    <section class="wide">
      <h2>Base URL</h2>
      ${codeBlock('base-url', 'Base URL', restBase(baseUrl))}
    </section>
    <section class="wide">
      <h2>Make a request</h2>
      <p>
        Every request sends a key. Keep yours in the environment variable
        <code>${keyVariable}</code>.
      </p>
      ${snippetTabs(url, languageOf(visit.request))}
      <p>
        <a href="${shopPath(shop, `/developers/console?operation=${operation.tool}`)}"
          >Run it in the console</a
        >, with this and the other operations.
      </p>
    </section>
    <section class="wide">
      <h2>Connect an agent</h2>
      <p>
        Agents call the same operations as tools, by the Model Context Protocol (MCP). Give each
        agent a key of its own.
      </p>
      ${codeBlock('mcp-url', 'MCP address', `${baseUrl}/api/mcp`)}
      ${agentTabs(`${baseUrl}/api/mcp`)}
    </section>
    <section>
      <h2>Documentation</h2>
      <ul>
        ${documents.map(([path, label]) => html`<li><a href="${path}">${label}</a></li>`)}
      </ul>
    </section>
  `;
  const action = createKeyLink(visit);
  return developerPage(visit, { title: 'Developers', tab: 'start', content, action });
}
