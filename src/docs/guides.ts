import { readFileSync } from 'node:fs';

interface Guide {
  /** The page's path below /docs. */
  readonly name: string;
  /** Below the folder `docs`. */
  readonly file: string;
  /** In the navigation. */
  readonly title: string;
  /** In llms.txt and for search engines. */
  readonly about: string;
}

/** The pages beside the reference, by the headings of the navigation. */
export const guides: Readonly<Record<string, readonly Guide[]>> = {
  Start: [
    {
      name: 'quick-start',
      file: 'guides/quick-start.md',
      title: 'Quick start',
      about: 'A key, a first answer, and what to read next',
    },
  ],
  Guides: [
    {
      name: 'entitlements',
      file: 'guides/entitlements.md',
      title: 'Entitlement checks',
      about: 'Checking access on every page view: caching, and what to do when the API is away',
    },
    {
      name: 'paging',
      file: 'guides/paging.md',
      title: 'Paging',
      about: 'Reading whole lists with cursors',
    },
    {
      name: 'limits',
      file: 'guides/limits.md',
      title: 'Limits',
      about: 'Requests per minute, and waiting out a 429',
    },
    {
      name: 'errors',
      file: 'guides/errors.md',
      title: 'Errors',
      about: 'Every refusal, what causes it, and whether to retry',
    },
    {
      name: 'ids',
      file: 'guides/ids.md',
      title: 'Ids',
      about: 'Which ids to ask with, and customerIdOf for ids such as cus_…',
    },
    {
      name: 'versions',
      file: 'guides/versions.md',
      title: 'Versions',
      about: 'What may change without notice, and what may not',
    },
    {
      name: 'mcp',
      file: 'mcp.md',
      title: 'MCP',
      about: 'Connecting agents, client by client, and the protocol',
    },
  ],
  Definitions: [
    {
      name: 'metrics',
      file: 'metrics.md',
      title: 'The figures',
      about: 'What each of the fifteen figures counts, with a worked example',
    },
    {
      name: 'definitions',
      file: 'definitions.md',
      title: 'Definitions',
      about: 'What every word, status, figure and list means, and why',
    },
  ],
  'Sending data': [
    {
      name: 'push',
      file: 'push.md',
      title: 'Pushing records',
      about: 'Sending records to a shop by signed requests',
    },
    {
      name: 'import',
      file: 'import.md',
      title: 'Records',
      about: 'The format of records, and importing files of them',
    },
  ],
};

const folder = new URL('../../docs/', import.meta.url);
/** The pages by the address of what links to them: the reference by its own path, guides by their file. */
const paths: ReadonlyMap<string, string> = new Map([
  [new URL('/docs', folder).href, '/docs'],
  ...Object.values(guides)
    .flat()
    .map(({ name, file }) => [new URL(file, folder).href, `/docs/${name}`] as const),
]);

/** The text of a guide, as its file has it. */
export function readGuide({ file }: Pick<Guide, 'file'>): string {
  return readFileSync(new URL(file, folder), 'utf8');
}

/**
 * A guide as the service at this address serves it: with that address in its examples, and links to files
 * turned into links to pages. A link to a file that is not served becomes its text.
 * @param extension of the pages that it links to, `.md` or none
 */
export function placeGuide(
  text: string,
  { file, baseUrl, extension }: { file: string; baseUrl: string; extension: '' | '.md' },
): string {
  return text
    .replaceAll('https://retention.example', baseUrl)
    .replace(
      /\[([^\]`]*(?:`[^`]*`[^\]`]*)*)\]\(([^)\s]+)\)/g,
      (link, label: string, target: string) => {
        if (/^(?:https?:|#)/.test(target)) return link;
        const { href, hash } = new URL(target, new URL(file, folder));
        const path = paths.get(href.replace(/#.*$/, ''));
        return path === undefined ? label : `[${label}](${path}${extension}${hash})`;
      },
    );
}
