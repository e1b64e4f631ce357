import type { Answer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import type { ShopVisit } from '../pages.ts';
import { page } from '../ui/answers.ts';
import type { Asset } from '../../http/look/look.ts';
import { readAsset } from '../ui/assets.ts';
import { layout, shopPath } from '../ui/layout.ts';

export const developerAssets: readonly Asset[] = [readAsset('developers.css', import.meta.url)];

/** The pages for developers, in the order of their links. */
const developerTabs = {
  start: { path: '/developers', label: 'Get started' },
  keys: { path: '/keys', label: 'Keys' },
  console: { path: '/developers/console', label: 'Console' },
  usage: { path: '/developers/usage', label: 'Usage' },
  requests: { path: '/developers/requests', label: 'Requests' },
} as const;

interface DeveloperPage {
  readonly title: string;
  readonly tab: keyof typeof developerTabs;
  readonly content: Html;
  readonly action?: Html | undefined;
  readonly status?: number;
}

/** A page for developers, with links to the others. */
export function developerPage(visit: ShopVisit, parts: DeveloperPage): Answer {
  const { title, tab, action, status } = parts;
  const { shop } = visit;
  const links = Object.entries(developerTabs).map(
    ([name, { path, label }]) =>
      html`<a href="${shopPath(shop, path)}" ${name === tab ? html`aria-current="page"` : undefined}
        >${label}</a
      >`,
  );
  const content = html`<div class="filters" role="navigation" aria-label="Developers">${links}</div>
    ${parts.content}`;
  const assets = developerAssets;
  return page(layout(visit, { title, content, action, assets }), status);
}
