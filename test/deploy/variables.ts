import { readFileSync } from 'node:fs';
import path from 'node:path';
import { platforms } from '../../src/platforms/registry.ts';
import { root } from '../cli/process.ts';

export function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

/** What the pattern's group matches, each time. */
export function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

/** The variables that the configuration reads. */
export const known: ReadonlySet<string> = new Set([
  ...['config', 'mail-config', 'upload-config'].flatMap((name) =>
    all(read(`src/config/${name}.ts`), /(?:check|readEnv|read)\([^']*'([A-Z_]+)'/g),
  ),
  ...platforms.flatMap(({ settings: { credentialsFile, webhookSecrets, clientId, baseUrl } }) =>
    [credentialsFile, webhookSecrets.variable, clientId, baseUrl].filter(
      (name) => name !== undefined,
    ),
  ),
]);

export function withoutComments(text: string): string {
  return text.replace(/^\s*#.*\n/gm, '').replace(/ #.*$/gm, '');
}
