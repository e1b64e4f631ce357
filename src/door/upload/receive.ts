import { type FileHandle, open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { isDiskFull } from '../../ingest/disk/disk-full.ts';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';

type Parser = InstanceType<typeof Busboy>;

/** A file that arrived whole, or why none did. */
export type Received =
  | { readonly kind: 'received'; readonly fileName: string; readonly bytes: number }
  /** The form is not from one of our pages. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'tooLarge' }
  /** It ended too early, or is no form. */
  | { readonly kind: 'broken' }
  /** It could not be written; `isFull` if for want of space. */
  | { readonly kind: 'unwritable'; readonly error: unknown; readonly isFull: boolean };

interface ReceiveOptions {
  /** The new file's path. */
  readonly place: string;
  readonly maxBytes: number;
  /** Checks the form's token, which must come before the file. */
  isToken(token: string): boolean;
  /** How long the sender may pause. */
  readonly stallMilliseconds?: number;
}

const defaultStallMilliseconds = 60_000;
const maxMilliseconds = 3_600_000;
const maxNameLength = 100;
/** What else a form may have. */
const limits = {
  fields: 4,
  fieldSize: 1000,
  fieldNameSize: 50,
  files: 1,
  parts: 5,
  headerPairs: 20,
};

/**
 * Receives the file of a form (multipart/form-data), and writes it to disk as it arrives. A body that is refused
 * is read to its end, since browsers show no answer before.
 */
export async function receiveFile(
  request: IncomingMessage,
  { place, maxBytes, isToken, stallMilliseconds = defaultStallMilliseconds }: ReceiveOptions,
): Promise<Received> {
  let token = '';
  let saving: Promise<Received> | undefined;
  let current: Readable | undefined;
  let parser: Parser;
  try {
    const headers = request.headers as BusboyHeaders;
    parser = new Busboy({ headers, limits: { ...limits, fileSize: maxBytes } });
  } catch {
    request.resume();
    return { kind: 'broken' };
  }
  parser.on('field', (name, value) => {
    if (name === 'token') token = value;
  });
  parser.on('file', (_field, file, name) => {
    current = file;
    // A part that ends early fails before anything may be reading it.
    file.on('error', () => {});
    if (!isToken(token)) saving = skip(file).then(() => ({ kind: 'foreign' }) as const);
    // Browsers send an empty file without a name where none was chosen.
    else if (!name) saving = skip(file).then(() => ({ kind: 'missing' }) as const);
    else saving = save(file, place, name);
    saving.catch(() => {});
  });
  const isWhole = await parse(request, parser, stallMilliseconds);
  if (!isWhole) current?.destroy();
  const result = await (saving ?? ({ kind: isToken(token) ? 'missing' : 'foreign' } as const));
  return isWhole || result.kind === 'unwritable' ? result : { kind: 'broken' };
}

/** @returns false if the body ended too early or is malformed */
function parse(request: IncomingMessage, parser: Parser, stallMilliseconds: number) {
  return new Promise<boolean>((resolve) => {
    const giveUp = () => {
      request.destroy();
      settle(false);
    };
    const stall = setTimeout(giveUp, stallMilliseconds);
    const deadline = setTimeout(giveUp, maxMilliseconds);
    const settle = (isWhole: boolean) => {
      clearTimeout(stall);
      clearTimeout(deadline);
      request.unpipe(parser);
      request.resume();
      resolve(isWhole);
    };
    // The sender may have gone before; no event would follow.
    if (request.destroyed) return settle(false);
    request.on('data', () => stall.refresh());
    request.on('error', () => settle(false));
    // A whole body closes the request, too, while its end is still being parsed.
    request.once('close', () => {
      if (!request.complete) settle(false);
    });
    parser.on('error', () => settle(false));
    parser.once('finish', () => settle(true));
    request.pipe(parser);
  });
}

async function skip(file: Readable): Promise<void> {
  try {
    for await (const _ of file) continue;
  } catch {
    // It ended early, which the parser has noticed too.
  }
}

async function save(file: Readable, place: string, name: string): Promise<Received> {
  let handle: FileHandle | undefined;
  let failure: Received | undefined;
  let bytes = 0;
  try {
    handle = await open(place, 'wx', 0o600);
  } catch (error) {
    failure = unwritable(error);
  }
  try {
    for await (const chunk of file as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (failure) continue;
      await handle?.writeFile(chunk).catch((error: unknown) => {
        failure = unwritable(error);
      });
    }
    if ('truncated' in file && file.truncated === true) failure ??= { kind: 'tooLarge' };
    else if (bytes === 0) failure ??= { kind: 'empty' };
  } catch {
    failure ??= { kind: 'broken' };
  }
  await handle?.close();
  // What could not be opened is not ours.
  if (!handle && failure) return failure;
  if (!failure) return { kind: 'received', fileName: displayName(name), bytes };
  await rm(place, { force: true });
  return failure;
}

export function unwritable(error: unknown): Received {
  return { kind: 'unwritable', error, isFull: isDiskFull(error) };
}

/** Without characters that do not show. */
function displayName(name: string): string {
  return name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, maxNameLength)
    .toWellFormed();
}
