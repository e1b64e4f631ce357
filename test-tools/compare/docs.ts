import { outlineOf } from './outline.ts';
import type { Both, Report } from './report.ts';
import { base } from './rest.ts';
import { publicUrl } from './version.ts';
import { type Answer, type Visitor, whole } from './visitor.ts';

const start =
  '/docs /docs/ /docs/nothing /docs/search.json /llms.txt /docs/mcp/server.json /docs/mcp/retention.mcpb ' +
  `/docs/mcp/icon.svg /docs/mcp/icon.png ${base}/openapi.json`;

/** The documents, and all that they link to: byte for byte. */
export async function compareDocs(visitors: Both<Visitor>, report: Report): Promise<void> {
  const paths = new Set(start.split(' '));
  for (const path of paths) {
    const question = { kind: 'docs', pattern: path, asked: path } as const;
    const answer = await report.ask(question, visitors, (each) => each.open(path), whole);
    for (const link of linksOf(answer, path))
      paths.add(link).add(link.replace(/(?<!\.md)$/, '.md'));
  }
}

function linksOf({ headers, body }: Answer, path: string): string[] {
  if (!headers['content-type']?.startsWith('text/html')) return [];
  const urls = outlineOf(body.toString()).links.map((link) => new URL(link, publicUrl + path));
  return urls.flatMap(({ origin, pathname }) =>
    origin === publicUrl && /^\/docs(?:\/|$)/.test(pathname) ? [pathname] : [],
  );
}
