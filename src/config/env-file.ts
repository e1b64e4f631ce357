import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';

const file = '.env';

/**
 * Adds the variables in `.env` in the current folder to the environment, parsed as Node.js does.
 * Variables that are already set, even to an empty value, keep their value.
 * @throws UsageError if the file cannot be read, or has lines that Node.js would silently ignore
 */
export function withEnvFile(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const text = readEnvFile();
  if (text === undefined) return env;
  const malformed = malformedLines(text);
  if (malformed.length > 0) {
    // Never quote a line: it may contain a password.
    throw new UsageError(
      `${malformed.map((line) => `${file}:${line}`).join(', ')}: not NAME=value, NAME="value" or a # comment.`,
    );
  }
  for (const [name, value] of Object.entries(parseEnv(text))) env[name] ??= value;
  return env;
}

/** @returns undefined if there is no such file */
function readEnvFile(): string | undefined {
  try {
    const found = statSync(file);
    const kind = found.isDirectory() ? 'folder' : found.isFIFO() ? 'pipe' : undefined;
    if (kind) {
      // Docker makes a folder of a file that is missing, so ignoring it could start without any settings.
      throw new UsageError(
        `${file} in the current folder is a ${kind}, not a file. Rename it, or run the command in another folder.`,
      );
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || (code === 'EACCES' && !canEnterFolder())) return undefined;
    throw new UsageError(
      `${file} in the current folder cannot be read: ${message}. Make it readable, or remove it.`,
    );
  }
}

/** Without search permission on the folder, any name gives EACCES, whether it exists or not. */
function canEnterFolder(): boolean {
  try {
    accessSync('.', constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function malformedLines(text: string): number[] {
  // Quoted values may span several lines.
  const unquoted = text.replace(
    /^([ \t]*(?:export[ \t]+)?\w+[ \t]*=[ \t]*)(["'`])[^]*?\2/gm,
    (value, start: string) => start + '\n'.repeat(value.split('\n').length - 1),
  );
  const wellFormed = /^[ \t]*(?:#.*|(?:export[ \t]+)?[A-Za-z_]\w*[ \t]*=(?![ \t]*["'`]).*)?$/;
  return unquoted
    .split(/\r?\n/)
    .flatMap((line, index) => (wellFormed.test(line) ? [] : [index + 1]));
}
