import { readFileSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';
import { operations } from '../../operations/index.ts';
import { serverInfo } from '../methods.ts';
import { summary } from './server-json.ts';

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

/** Midnight of 1980-01-01, the first time that the format has, so that the same files give the same bytes. */
const [time, date] = [0, 0x21];
const utf8Names = 0x0800;
const deflated = 8;
const formatVersion = 20;
const madeOnUnix = (3 << 8) | formatVersion;
/** A regular file that its owner may write and everyone may read. */
const mode = (0o100644 << 16) >>> 0;

/**
 * Packs files as a ZIP archive.
 * @see https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
function zip(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes, { level: 9 });
    const nameBytes = Buffer.from(name);
    const noExtraField = 0;
    const header = Buffer.concat([
      two(formatVersion, utf8Names, deflated, time, date),
      four(crc32(bytes), packed.length, bytes.length),
      two(nameBytes.length, noExtraField),
    ]);
    const [noComment, firstDisk, isBinary] = [0, 0, 0];
    directory.push(
      four(0x02014b50),
      two(madeOnUnix),
      header,
      two(noComment, firstDisk, isBinary),
      four(mode, offset),
      nameBytes,
    );
    const body = Buffer.concat([four(0x04034b50), header, nameBytes, packed]);
    bodies.push(body);
    offset += body.length;
  }
  const entries = Buffer.concat(directory);
  const count = Object.keys(files).length;
  const end = [four(0x06054b50), two(0, 0, count, count), four(entries.length, offset), two(0)];
  return Buffer.concat([...bodies, entries, ...end]);
}

/** Little-endian numbers of two bytes each. */
function two(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
  return bytes;
}

/** The same of four bytes. */
function four(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}
