import { hash } from 'node:crypto';
import { type Html, html } from '../http/html.ts';
import type { DocsPage } from './pages.ts';
import { renderArticle } from './markdown.ts';

/** The releases of the changelog as an Atom feed (RFC 4287). Changes that are not released have no date yet. */
export function renderFeed(changelog: DocsPage, baseUrl: string, path: string): string {
  const releases = changelog
    .text('')
    .split(/^## /m)
    .flatMap((text) => {
      const [heading = '', version, date] = /^(\S+) - (\d{4}-\d\d-\d\d)$/m.exec(text) ?? [];
      if (version === undefined || !text.startsWith(heading)) return [];
      const body = text.slice(heading.length);
      const section = changelog.article().sections.find(({ title }) => title === heading);
      return [{ version, updated: `${date}T00:00:00Z`, body, anchor: section?.id ?? '' }];
    });
  const page = `${baseUrl}${changelog.path}`;
  const entries = releases.map(
    ({ version, updated, body, anchor }): Html =>
      html`<entry>
        <id>${idOf(`release ${version}`)}</id>
        <title>${version}</title>
        <updated>${updated}</updated>
        <link rel="alternate" type="text/html" href="${page}#${anchor}" />
        <content type="html">${String(renderArticle(body).content)}</content>
      </entry>`,
  );
  return String(
    html`<?xml version="1.0" encoding="utf-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
        <id>${idOf('changelog')}</id>
        <title>Retention Data Service: releases</title>
        <updated>${releases[0]?.updated ?? '1970-01-01T00:00:00Z'}</updated>
        <author><name>Retention Data Service</name></author>
        <link rel="self" type="application/atom+xml" href="${baseUrl}${path}" />
        <link rel="alternate" type="text/html" href="${page}" />
        ${entries}
      </feed>`,
  );
}

/** The same wherever the service runs, so that readers who follow two servers see a release once. */
function idOf(name: string): string {
  const hex = hash('sha256', `retention-data-service ${name}`);
  // A UUID of version 8 (RFC 9562): made of a hash.
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(12, 15)}`,
    `8${hex.slice(15, 18)}`,
  ];
  return `urn:uuid:${[...parts, hex.slice(18, 30)].join('-')}`;
}
