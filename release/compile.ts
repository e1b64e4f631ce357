import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';

/**
 * Replaces the TypeScript of a folder by JavaScript, and removes its tests. Node.js runs no TypeScript
 * below node_modules, so it takes the types away here, by what it does elsewhere at every start. Types
 * become spaces, so that errors name the lines and columns of the sources.
 */
export function compile(folder: string): void {
  for (const file of globSync('**/*.ts', { cwd: folder })) {
    const source = path.join(folder, file);
    if (!file.endsWith('.test.ts')) {
      writeFileSync(source.replace(/ts$/, 'js'), toJavaScript(readFileSync(source, 'utf8')));
    }
    rmSync(source);
  }
}

/** Files are named only by relative paths in quotes: imports, and the URLs of threads. */
function toJavaScript(text: string): string {
  return stripTypeScriptTypes(text).replace(/(['"])(\.\.?\/[^'"\n]+)\.ts\1/g, '$1$2.js$1');
}
