import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runProcess, throwawayFolder } from '../../cli/process.ts';

/** What a host reads in a bundle's manifest to start its program. */
interface Manifest {
  readonly version: string;
  readonly server: {
    readonly mcp_config: {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };
  };
  readonly user_config: Readonly<
    Record<string, { readonly default?: string; sensitive?: boolean }>
  >;
}

/** An unpacked bundle, and how to start its program. */
export interface Unpacked {
  readonly folder: string;
  readonly manifest: Manifest;
  /** @param entered what the user entered; other fields have their defaults */
  start(entered: Readonly<Record<string, string>>): {
    readonly command: string;
    readonly args: string[];
    readonly env: Record<string, string>;
  };
}

/** Fetches a service's bundle, and unpacks it with Python's reader of ZIP archives, which checks its sums. */
export async function unpackBundle(baseUrl: string): Promise<Unpacked> {
  const response = await fetch(`${baseUrl}/docs/mcp/retention.mcpb`);
  assert.equal(response.status, 200);
  const folder = throwawayFolder();
  const file = path.join(folder, 'retention.mcpb');
  writeFileSync(file, Buffer.from(await response.arrayBuffer()));
  for (const args of [
    ['-t', file],
    ['-e', file, folder],
  ]) {
    const { code, out, err } = await runProcess(args, { through: ['python3', '-m', 'zipfile'] });
    assert.equal(code, 0, out + err);
  }
  const manifest: Manifest = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
  const { command, args, env } = manifest.server.mcp_config;
  return {
    folder,
    manifest,
    start(entered) {
      const fill = (text: string) =>
        text
          .replace('${__dirname}', folder)
          .replace(
            /\$\{user_config\.(\w+)\}/g,
            (_, name: string) => entered[name] ?? manifest.user_config[name]?.default ?? '',
          );
      return {
        // Hosts have a Node.js of their own.
        command: command === 'node' ? process.execPath : command,
        args: args.map(fill),
        env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fill(text)])),
      };
    },
  };
}
