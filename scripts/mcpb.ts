/*
 * Writes retention.mcpb and server.json for a service into the current folder, as the service itself serves them:
 * `npm run mcpb https://retention.example`.
 */
import { writeFileSync } from 'node:fs';
import { buildBundle } from '../src/mcp/presence/bundle.ts';
import { describeServer } from '../src/mcp/presence/server-json.ts';

const [address = ''] = process.argv.slice(2);
if (!/^https?:\/\/[^/]+$/.test(address)) {
  process.stderr.write('Name the address of the service, such as https://retention.example\n');
  process.exit(2);
}
const folder = process.env['INIT_CWD'] ?? process.cwd();
writeFileSync(`${folder}/retention.mcpb`, buildBundle(address));
writeFileSync(
  `${folder}/server.json`,
  `${JSON.stringify(describeServer(address), undefined, 2)}\n`,
);
process.stderr.write(`Wrote retention.mcpb and server.json for ${address}\n`);
