import { type FileHandle, open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { type BusboyHeaders, Busboy } from '@fastify/busboy';
import { isDiskFull } from '../../store/temporary-folder.ts';

type Parser = InstanceType<typeof Busboy>;

/** A file that arrived whole. */
export interface ReceivedFile {
  readonly kind: 'received';
  readonly fileName: string;
  readonly bytes: number;
}

/** Why none did. */
export type Refusal =
  /** The form is not from one of our pages. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'tooLarge' }
  /** It ended too early, or is no form. */
  | { readonly kind: 'broken' }
  | { readonly kind: 'tooSlow' }
  /** A later file of the shop has taken its place. */
  | { readonly kind: 'replaced' }
  /** The shop's last file is being imported, or as many arrive as may: of the owner, or of all. */
  | { readonly kind: 'importing' | 'ownersLimit' | 'serversLimit' }
  /** It could not be written; `isFull` if for want of space. */
  | { readonly kind: 'unwritable'; readonly error: unknown; readonly isFull: boolean };

export type Received = ReceivedFile | Refusal;

interface ReceiveOptions {
  readonly maxBytes: number;
  /** Checks the form's token, which must come first. */
  isToken(token: string): boolean;
  /** Called once the token was right. @returns the new file's path, or why there is none */
  admit(): Promise<string | Refusal>;
  /** Ends it, because a later file has taken its place. */
  readonly replaced: AbortSignal;
}

/** As for any other request. */
const tokenMilliseconds = 20_000;
/** More than the header and the value of a token take. */
const maxBytesBeforeToken = 64 * 1024;
/** 1 KiB a second: a tenth of what the slowest lines send, so that they may even pause for most of a minute. */
const slowest = { bytes: 60 * 1024, milliseconds: 60_000 };
const maxMilliseconds = 3_600_000;
/** Browsers show no answer before they have sent everything, and most files are small. */
const discardMilliseconds = 10_000;
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
 * Receives the file of a form (multipart/form-data), and writes it to disk as it arrives. A body that is refused is
 * answered at once, and what still arrives of it is discarded for a while.
 */
export async function receiveFile(
  request: IncomingMessage,
  { maxBytes, isToken, admit, replaced }: ReceiveOptions,
): Promise<Received> {
  const parser = createParser(request, maxBytes);
  if (!parser) {
    discardRest(request);
    return { kind: 'broken' };
  }
  /** Of the body: why it is refused; undefined once it has arrived whole. */
  const body = Promise.withResolvers<Refusal | undefined>();
  const refuse = (refusal: Refusal) => body.resolve(refusal);
  let hasToken = false;
  let file: Readable | undefined;
  let saving: Promise<Received> | undefined;

  parser.on('field', (name, value) => {
    if (hasToken) return;
    hasToken = name === 'token' && isToken(value);
    if (!hasToken) refuse({ kind: 'foreign' });
  });
  parser.on('file', (_field, stream, name) => {
    file = stream;
    // A part that ends early fails before anything may be reading it.
    stream.on('error', () => {});
    if (!hasToken) return refuse({ kind: 'foreign' });
    // Browsers send an empty file without a name where none was chosen.
    if (!name) return refuse({ kind: 'missing' });
    stream.once('limit', () => refuse({ kind: 'tooLarge' }));
    saving = save(stream, name, admit).catch(unwritable);
    void saving.then((saved) => saved.kind === 'received' || refuse(saved));
  });
  const timers = watch(request, () => hasToken, refuse);
  const onReplaced = () => refuse({ kind: 'replaced' });
  replaced.addEventListener('abort', onReplaced);
  parse(request, parser, body);

  const refusal = await body.promise;
  for (const timer of timers) clearTimeout(timer);
  replaced.removeEventListener('abort', onReplaced);
  request.unpipe(parser);
  discardRest(request);
  // Ends saving it, which removes what was written.
  if (refusal) file?.destroy();
  const saved = await saving;
  return refusal ?? saved ?? { kind: hasToken ? 'missing' : 'foreign' };
}

/** @returns undefined for a body that is no form */
function createParser({ headers }: IncomingMessage, fileSize: number): Parser | undefined {
  try {
    return new Busboy({ headers: headers as BusboyHeaders, limits: { ...limits, fileSize } });
  } catch {
    return undefined;
  }
}

/** Refuses a body whose token does not come first, or soon, and one that arrives too slowly. */
function watch(
  request: IncomingMessage,
  hasToken: () => boolean,
  refuse: (refusal: Refusal) => void,
): NodeJS.Timeout[] {
  let bytes = 0;
  let bytesBefore = 0;
  request.on('data', (chunk: Buffer) => {
    if (!hasToken() && bytes > maxBytesBeforeToken) refuse({ kind: 'foreign' });
    bytes += chunk.length;
  });
  const tooSlow = () => refuse({ kind: 'tooSlow' });
  return [
    setTimeout(() => hasToken() || tooSlow(), tokenMilliseconds),
    setInterval(() => {
      if (bytes - bytesBefore < slowest.bytes) tooSlow();
      bytesBefore = bytes;
    }, slowest.milliseconds),
    setTimeout(tooSlow, maxMilliseconds),
  ];
}

function parse(
  request: IncomingMessage,
  parser: Parser,
  body: Pick<PromiseWithResolvers<Refusal | undefined>, 'resolve'>,
): void {
  const broken = () => body.resolve({ kind: 'broken' });
  // The sender may have gone before; no event would follow.
  if (request.destroyed) return broken();
  request.on('error', broken);
  // A whole body closes the request, too, while its end is still being parsed.
  request.once('close', () => {
    if (!request.complete) broken();
  });
  parser.on('error', broken);
  parser.once('finish', () => body.resolve(undefined));
  request.pipe(parser);
}

function discardRest(request: IncomingMessage): void {
  request.resume();
  if (request.complete) return;
  const timer = setTimeout(() => request.destroy(), discardMilliseconds).unref();
  request.once('close', () => clearTimeout(timer));
}

async function save(
  file: Readable,
  name: string,
  admit: ReceiveOptions['admit'],
): Promise<Received> {
  const place = await admit();
  if (typeof place !== 'string') return place;
  const handle = await open(place, 'wx', 0o600);
  const written = await write(file, handle);
  await handle.close();
  if (typeof written === 'number') {
    return { kind: 'received', fileName: displayName(name), bytes: written };
  }
  await rm(place, { force: true });
  return written;
}

/** @returns how many bytes it was */
async function write(file: Readable, handle: FileHandle): Promise<number | Refusal> {
  let bytes = 0;
  try {
    for await (const chunk of file as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      const failure = await handle.writeFile(chunk).catch(unwritable);
      if (failure) return failure;
    }
  } catch {
    return { kind: 'broken' };
  }
  return bytes > 0 ? bytes : { kind: 'empty' };
}

export function unwritable(error: unknown): Refusal {
  return { kind: 'unwritable', error, isFull: isDiskFull(error) };
}

/** Without characters that do not show. */
function displayName(name: string): string {
  return name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, maxNameLength)
    .toWellFormed();
}

/** They hold no more than a little memory and a file each, but what they write fills the disk. */
const maxArriving = 16;
const maxOfOwner = 2;
/** An owner's second file leaves so many for owners who have none arriving. */
const keptForOthers = 8;

interface Arrival {
  readonly ownerId: string;
  /** Ends it. */
  readonly replace: () => void;
}

/** The files that arrive in this process: one of a shop, and few of an owner. */
export class ArrivingFiles {
  readonly #byShop = new Map<number, Arrival>();

  /**
   * Makes room for a file. An earlier one of the shop ends: it may be stalled, and its owner has begun again.
   * @returns why there is none; undefined if there is
   */
  add(shopId: number, arrival: Arrival): Refusal | undefined {
    const earlier = this.#byShop.get(shopId);
    const others = [...this.#byShop.values()].filter((each) => each !== earlier);
    const { length: own } = others.filter(({ ownerId }) => ownerId === arrival.ownerId);
    if (own >= maxOfOwner) return { kind: 'ownersLimit' };
    const max = own > 0 ? maxArriving - keptForOthers : maxArriving;
    if (others.length >= max) return { kind: 'serversLimit' };
    earlier?.replace();
    this.#byShop.set(shopId, arrival);
    return undefined;
  }

  remove(shopId: number, arrival: Arrival): void {
    if (this.#byShop.get(shopId) === arrival) this.#byShop.delete(shopId);
  }
}
