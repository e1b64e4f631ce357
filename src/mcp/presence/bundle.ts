import { readFileSync } from 'node:fs';
import { operations } from '../../operations/index.ts';
import { serverInfo } from '../server-info.ts';
import { summary } from './server-json.ts';
import { zip } from './zip.ts';

const read = (file: string) => readFileSync(new URL(file, import.meta.url));
const bridge = read('./bridge.js');
export const iconImage = read('./icon.png');

/**
 * A bundle that a desktop program installs in one step (`.mcpb`): it asks for the key, keeps it as a secret, and
 * starts the bridge with it.
 * @param baseUrl the service that it connects to, unless the user enters another
 * @see https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
 */
export function buildBundle(baseUrl: string): Buffer {
  return zip({
    'manifest.json': `${JSON.stringify(manifest(baseUrl), undefined, 2)}\n`,
    'icon.png': iconImage,
    // Says that the program is an ES module.
    'package.json': '{ "type": "module" }\n',
    'server/index.js': bridge,
  });
}

function manifest(baseUrl: string): object {
  const { name, title, version } = serverInfo;
  return {
    manifest_version: '0.3',
    name,
    display_name: title,
    version,
    description: summary,
    author: { name: title },
    documentation: `${baseUrl}/docs/mcp`,
    icon: 'icon.png',
    license: 'MIT',
    server: {
      type: 'node',
      entry_point: 'server/index.js',
      mcp_config: {
        command: 'node',
        args: ['${__dirname}/server/index.js'],
        env: {
          RETENTION_URL: '${user_config.url}',
          RETENTION_API_KEY: '${user_config.api_key}',
        },
      },
    },
    tools: operations.map(({ tool, description }) => ({ name: tool, description })),
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: '>=18.0.0' } },
    user_config: {
      api_key: {
        type: 'string',
        title: 'API key',
        description:
          'Create one for this program in the shop, under API keys. It begins with rtn_.',
        sensitive: true,
        required: true,
      },
      url: {
        type: 'string',
        title: 'Address of the service',
        description: 'Where the service is, without a path.',
        default: baseUrl,
        required: true,
      },
    },
  };
}
