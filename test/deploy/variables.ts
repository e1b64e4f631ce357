import { readFileSync } from 'node:fs';
import path from 'node:path';
import { platformSettings } from '../../src/config/platform-config.ts';
import { nodeSettings, settings, traceSettings } from '../../src/config/settings.ts';
import { platforms } from '../../src/platforms/registry.ts';
import { root } from '../cli/process.ts';

export function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

/** What the pattern's group matches, each time. */
export function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}

/** Every setting. */
export const known: ReadonlySet<string> = new Set(
  [
    ...Object.values(settings),
    nodeSettings,
    traceSettings,
    ...platforms.map((platform) => platformSettings(platform.settings)),
  ].flatMap(Object.keys),
);

export function withoutComments(text: string): string {
  return text.replace(/^\s*#.*\n/gm, '').replace(/ #.*$/gm, '');
}
