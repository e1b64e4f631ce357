import { scopeDescriptions } from '../access/scopes.ts';
import { tiers } from '../access/tiers.ts';
import { limit, toJsonSchema } from '../operations/json-schema.ts';
import type { RestVersion } from '../operations/versions.ts';
import { refusals } from '../refusals.ts';
import { messageOf, refusalKinds } from './documented-refusals.ts';
import { scopes, type Tier, tierNames } from '../vocabulary.ts';

/** Text in which backticks mark code. */
export type Prose = string;

interface Table {
  readonly head: readonly Prose[];
  readonly rows: readonly (readonly Prose[])[];
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly (Prose | Table)[];
}

/** What applies to every endpoint, for the document's description, the reference and llms.txt. */
export function introduction(serverUrl: string, version: RestVersion): Section[] {
  const { name, basePath, operations, aliases = {} } = version;
  return [
    {
      id: 'basics',
      title: 'Basics',
      blocks: [
        `All addresses begin with \`${serverUrl}${basePath}\`. Every request is a GET without a body, every answer is JSON, and nothing that you can call changes data. All you see belongs to the shop of your key.`,
        `The interface is for servers: it sends no CORS headers, and a key must never be in a web page or an app. Agents find the same operations as MCP tools at \`${serverUrl}/api/mcp\`, with the same keys, scopes and limits.`,
      ],
    },
    {
      id: 'authentication',
      title: 'Authentication',
      blocks: [
        "Send a key with every request: `Authorization: Bearer <key>`. The shop's owner creates keys. A key is `rtn_` and 43 more characters, is shown once, and can be revoked at any moment; from then on every request with it gets 401.",
      ],
    },
    {
      id: 'scopes',
      title: 'Scopes',
      blocks: [
        'A key holds one scope or more, all of them read-only. Each endpoint needs exactly one.',
        {
          head: ['Scope', 'Lets a key read'],
          rows: scopes.map((scope) => {
            const endpoints = operations.filter((operation) => operation.scope === scope);
            const paths = endpoints.map(({ path }) => `\`${path}\``).join(', ');
            return [`\`${scope}\``, `${scopeDescriptions[scope]}: ${paths}`];
          }),
        },
      ],
    },
    {
      id: 'limits',
      title: 'Limits',
      blocks: [
        "How much a key may ask depends on the shop's tier. The minute is a rolling one: the requests of the last 60 seconds count, REST and MCP together. A request that was refused with 429 does not count.",
        {
          head: ['Tier', 'Requests per minute, per key'],
          rows: tierNames.map((tier) => [titleOf(tier), limitOf(tier)]),
        },
        'Answers to limited keys carry `RateLimit-Policy` and `RateLimit`, so that a client can slow down in time. A 429 carries `Retry-After`, in whole seconds.',
      ],
    },
    {
      id: 'errors',
      title: 'Errors',
      blocks: [
        'Every answer that is not 2xx has the body `{ "success": false, "message": "…" }`. The first of these that applies is answered: key, tier, limit, scope, parameters, id. A parameter that an endpoint does not have is ignored.',
        {
          head: ['Status', 'When', 'Message'],
          rows: refusalKinds.map((kind) => {
            const { status, when } = refusals[kind];
            const message = messageOf(kind);
            return [String(status), when, kind === 'invalid' ? message : `\`${message}\``];
          }),
        },
        'Any endpoint can answer 405 and 500. HEAD answers as GET does, without the body. A path that does not exist gets 404 `Not found.` in the same form. Every answer has an `X-Request-Id`; quote it when you ask for help.',
      ],
    },
    {
      id: 'pagination',
      title: 'Pagination',
      blocks: [
        `\`/subscriptions\` and \`/cancellations\` answer a page at a time, newest first. \`limit\` is an integer from ${pageSize.minimum} to ${pageSize.maximum}, ${pageSize.default} where it is left out. While more rows remain, \`nextCursor\` is a text: pass it on unchanged as \`cursor\`, with the same filter. On the last page it is null.`,
        'Rows that were there when you read the first page come exactly once, whatever is added meanwhile.',
      ],
    },
    {
      id: 'values',
      title: 'Values',
      blocks: [
        "Timestamps are ISO 8601 in UTC with milliseconds. Money is a number in the shop's currency, which `currency` of `/metrics/summary` names. Ids are integers up to 2^53 − 1; you may ask for a greater one, which nothing has. Every documented field is always there; where it can be null, its type says so.",
        'Ignore fields that you do not know. A field that holds one of several words may gain new words without a new version: take a word that you do not know as "something else", and do not fail on it.',
      ],
    },
    {
      id: 'versioning',
      title: 'Versioning',
      blocks: [
        `The version is in the path. Fields and endpoints are added without a new version; a change that could break a client becomes \`/v${Number(name.slice(1)) + 1}\`, beside \`/${name}\`. A version that ends is announced in advance, and until then its answers carry the headers \`Deprecation\` and \`Sunset\` (RFC 8594). ${endOf(version)}`,
        ...Object.entries(aliases).map(
          ([path, alias]) => `\`${alias}\` is a permanent alias of \`${basePath}${path}\`.`,
        ),
      ],
    },
  ];
}

/** Renders sections as Markdown (CommonMark with tables), for the document's description. */
export function toMarkdown(sections: readonly Section[]): string {
  return sections
    .flatMap(({ title, blocks }) => [`## ${title}`, ...blocks.map(blockToMarkdown)])
    .join('\n\n');
}

function blockToMarkdown(block: Prose | Table): string {
  return typeof block === 'string' ? block : renderTable(block);
}

export function renderTable({ head, rows }: Table): string {
  return [head, head.map(() => '---'), ...rows].map(renderRow).join('\n');
}

function renderRow(cells: readonly Prose[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function endOf({ name, sunsetAt }: RestVersion): string {
  return sunsetAt === undefined
    ? `No end is planned for ${name}.`
    : `${name} ends on ${sunsetAt.toISOString()}.`;
}

const pageSize = toJsonSchema(limit, 'input');

function titleOf(tier: Tier): string {
  const text = tier.replaceAll('_', ' ');
  return text.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

function limitOf(tier: Tier): string {
  const { hasApiAccess, limitPerMinute } = tiers[tier];
  if (!hasApiAccess) return 'no API access';
  return limitPerMinute === undefined ? 'no limit' : String(limitPerMinute);
}
