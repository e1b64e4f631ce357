import { readFileSync } from 'node:fs';
import { translateRequests } from '../reference/languages.ts';

export interface Guide {
  /** The page's path below /docs; empty for the first page. */
  readonly name: string;
  /** Below the project's folder. */
  readonly file: string;
  /** In the navigation. */
  readonly title: string;
  /** In llms.txt and for search engines. */
  readonly about: string;
}

/** @param file that of a guide by default */
const guide = (
  name: string,
  title: string,
  about: string,
  file = `docs/guides/${name}.md`,
): Guide => ({
  name,
  file,
  title,
  about,
});

/** The pages beside the reference, by the headings of the navigation. */
export const guides: Readonly<Record<string, readonly Guide[]>> = {
  Start: [
    guide('', 'Home', 'Three ways in, and all pages', 'docs/guides/home.md'),
    guide('quick-start', 'Quick start', 'A key, a first answer, and what to read next'),
  ],
  Guides: [
    guide(
      'entitlements',
      'Entitlement checks',
      'Checking access on every page view: caching, and what to do when the API is away',
    ),
    guide('paging', 'Paging', 'Reading whole lists with cursors'),
    guide('limits', 'Limits', 'Requests per minute, and waiting out a 429'),
    guide('errors', 'Errors', 'Every refusal, what causes it, and whether to retry'),
    guide('ids', 'Ids', 'Which ids to ask with, and customerIdOf for ids such as cus_…'),
    guide('versions', 'Versions', 'What may change without notice, and what may not'),
    guide('mcp', 'MCP', 'Connecting agents, client by client, and the protocol', 'docs/mcp.md'),
  ],
  Definitions: [
    guide(
      'metrics',
      'The figures',
      'What each of the fifteen figures counts, with a worked example',
      'docs/metrics.md',
    ),
    guide(
      'definitions',
      'Definitions',
      'What every word, status, figure and list means, and why',
      'docs/definitions.md',
    ),
  ],
  'Sending data': [
    guide(
      'push',
      'Pushing records',
      'Sending records to a shop by signed requests',
      'docs/push.md',
    ),
    guide(
      'import',
      'Records',
      'The format of records, and importing files of them',
      'docs/import.md',
    ),
  ],
  'Running it': [
    guide(
      'deploy',
      'Deploying',
      'Where it runs, and how it is installed and upgraded',
      'docs/deploy.md',
    ),
    guide('settings', 'Settings', 'Every environment variable', 'docs/settings.md'),
    guide('commands', 'Commands', 'Every command of the command line', 'docs/commands.md'),
    guide('changelog', 'Changelog', 'What is new, and what to change', 'CHANGELOG.md'),
  ],
};

export const allGuides: readonly Guide[] = Object.values(guides).flat();

/** The path of a guide's page. */
export const guidePath = ({ name }: Pick<Guide, 'name'>, extension: '' | '.md' = '') =>
  `/docs${name && `/${name}`}${extension}` as const;

/** The project's folder, by way of `docs`: the image has that one, but not the whole folder. */
const folder = new URL('..', new URL('../../docs/', import.meta.url));
/** The pages by the address of what links to them: the reference by its own path, guides by their file. */
const paths: ReadonlyMap<string, string> = new Map([
  [new URL('/docs/reference', folder).href, '/docs/reference'],
  ...allGuides.map((each) => [new URL(each.file, folder).href, guidePath(each)] as const),
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
  return translateRequests(text)
    .replaceAll('https://retention.example', baseUrl)
    .replaceAll('retention.example', new URL(baseUrl).hostname)
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
