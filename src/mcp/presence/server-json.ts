import { serverInfo } from '../methods.ts';
import { paths } from './paths.ts';

/** In registries and lists of extensions, which take at most 100 characters. */
export const summary =
  'Read-only subscription data of a shop: entitlements, subscriptions, metrics, plans, cancellations';

/**
 * The entry of this service in the MCP registry, for its operator to publish. Its name is the host's, in reverse: a
 * namespace that the operator of the host can prove.
 * @see https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json
 */
export function describeServer(baseUrl: string): object {
  const { name, title, version } = serverInfo;
  const namespace = new URL(baseUrl).hostname.split('.').toReversed().join('.');
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: `${namespace}/${name}`,
    title,
    description: summary,
    version,
    websiteUrl: `${baseUrl}/docs/mcp`,
    icons: [
      { src: baseUrl + paths.iconImage, mimeType: 'image/png', sizes: ['512x512'] },
      { src: baseUrl + paths.icon, mimeType: 'image/svg+xml', sizes: ['any'] },
    ],
    remotes: [
      {
        type: 'streamable-http',
        url: `${baseUrl}/api/mcp`,
        headers: [
          {
            name: 'Authorization',
            description: 'The key of a shop',
            value: 'Bearer {api_key}',
            isRequired: true,
            isSecret: true,
            variables: {
              api_key: {
                description: "A key that the shop's owner created for this client",
                placeholder: 'rtn_…',
                isRequired: true,
                isSecret: true,
              },
            },
          },
        ],
      },
    ],
  };
}
