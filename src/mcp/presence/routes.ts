import { type AnswerBody, json } from '../../http/answer.ts';
import { icon } from '../../http/look/look.ts';
import type { Route } from '../../http/shell.ts';
import { buildBundle, iconImage } from './bundle.ts';
import { paths } from './paths.ts';
import { describeServer } from './server-json.ts';

const cached = { 'cache-control': 'public, max-age=300' };

/**
 * What makes the MCP endpoint easy to install: a bundle, an entry for the registry, icons. They have the service's
 * own address, which may be known only once it listens, and no secrets.
 */
export function presenceRoutes(baseUrl: () => string): Route[] {
  return [
    route(paths.bundle, 'application/octet-stream', () => buildBundle(baseUrl()), {
      'content-disposition': 'attachment; filename="retention.mcpb"',
    }),
    route(paths.serverJson, json['content-type'], () =>
      JSON.stringify(describeServer(baseUrl()), undefined, 2),
    ),
    route(paths.icon, 'image/svg+xml', () => icon, {
      // As a page it may do nothing.
      'content-security-policy': "default-src 'none'",
    }),
    route(paths.iconImage, 'image/png', () => iconImage),
  ];
}

function route(
  url: string,
  type: string,
  body: () => AnswerBody,
  headers: Readonly<Record<string, string>> = {},
): Route {
  return {
    method: 'GET',
    url,
    handle: () => ({
      status: 200,
      headers: { 'content-type': type, ...cached, ...headers },
      body: body(),
    }),
  };
}
