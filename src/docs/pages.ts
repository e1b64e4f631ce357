import type { RestVersion } from '../operations/versions.ts';
import type { OpenApiDocument } from '../reference/document.ts';
import type { LanguageName } from '../reference/languages.ts';
import {
  endpointName,
  renderEndpointPage,
  renderOverview,
  renderReference,
} from '../reference/reference.ts';
import { type Guide, guidePath, guides, placeGuide, readGuide } from './guides.ts';
import { type Article, renderArticle } from './markdown.ts';

/** A page of the documentation, whose text names the public URL. */
export interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly about: string;
  /** @param extension of the pages that it links to */
  text(extension: '' | '.md'): string;
  /** @param language in which examples are shown first */
  article(language?: LanguageName): Article;
}

/** Pages by the headings of the navigation. */
export type Navigation = ReadonlyMap<string, readonly DocsPage[]>;

/** Renders an article once for each language. */
function docsPage(page: Omit<DocsPage, 'article'>): DocsPage {
  const articles = new Map<LanguageName | undefined, Article>();
  return {
    ...page,
    article(language) {
      const article = articles.get(language) ?? renderArticle(page.text(''), language);
      articles.set(language, article);
      return article;
    },
  };
}

export interface Contract {
  readonly version: RestVersion;
  /** Built on first use: it names the public URL, which may be known only once the server listens. */
  document(): OpenApiDocument;
}

/** The reference of a version, a page for each endpoint. As Markdown, its first page is the whole. */
export function referenceOf({ version, document }: Contract, base: string): DocsPage[] {
  const overview = docsPage({
    path: base,
    title: 'API reference',
    about: 'Every endpoint, limit and error',
    text: (extension) =>
      extension === '.md'
        ? renderReference(document(), version)
        : renderOverview(document(), version, (name) => `${base}/${name}`),
  });
  const endpoints = version.operations.map((operation) => {
    const path = version.basePath + operation.path;
    return docsPage({
      path: `${base}/${endpointName(operation)}`,
      title: operation.title,
      about: `GET ${operation.path}`,
      text: () => renderEndpointPage(document(), path),
    });
  });
  return [overview, ...endpoints];
}

/** The current pages. @param reference those of the current version */
export function navigationOf(baseUrl: () => string, reference: readonly DocsPage[]): Navigation {
  const groups = Object.entries(guides).map(
    ([heading, listed]) => [heading, listed.map(guidePage)] as const,
  );
  const navigation: Navigation = new Map(groups.toSpliced(2, 0, ['API reference', [...reference]]));
  return navigation;

  function guidePage({ name, title, about, file }: Guide): DocsPage {
    // Now, so that a missing file is noticed at startup.
    const text = readGuide({ file });
    return docsPage({
      path: guidePath({ name }),
      title,
      about,
      text: (extension) =>
        placeGuide(text, { file, baseUrl: baseUrl(), extension }) +
        (name === '' ? listPages(navigation, extension) : ''),
    });
  }
}

function listPages(navigation: Navigation, extension: '' | '.md'): string {
  const groups = [...navigation].map(([heading, pages]) => {
    const links = pages.map(
      ({ path, title, about }) => `- [${title}](${path}${extension}): ${about}`,
    );
    return `### ${heading}\n\n${links.join('\n')}`;
  });
  return ['\n## All pages', ...groups].join('\n\n');
}
