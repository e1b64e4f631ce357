/**
 * Parses what a client of the PostgreSQL protocol, version 3, sends: a byte stream, split into startup
 * packets and then units. Independent of sockets and of the database.
 * https://www.postgresql.org/docs/18/protocol-message-formats.html
 */

/**
 * Messages that must reach the database without another client's in between: everything up to a query,
 * sync or flush, after which the client waits for an answer.
 */
export interface Unit {
  /** Whole messages, in order. */
  parts: Buffer[];
  /** Bytes in all parts. */
  size: number;
  /** Named statements in the order they were parsed or closed; names are byte strings (latin1). */
  statements: { name: string; open: boolean }[];
}

export type Incoming =
  | { kind: 'encryptionRequest' }
  | { kind: 'cancelRequest' }
  | { kind: 'startup'; parameters: Map<string, string> }
  | { kind: 'unit'; unit: Unit }
  | { kind: 'terminate' }
  | { kind: 'violation'; message: string };

const maxStartupBytes = 10_000;
const maxUnitBytes = 256 * 1024 * 1024;

const protocolThree = 3;
const cancelCode = 80877102;
const sslCode = 80877103;
const gssCode = 80877104;

const bind = code('B');
const close = code('C');
const parse = code('P');
const query = code('Q');
const flush = code('H');
const sync = code('S');
const terminate = code('X');
// An unknown message type makes the database end its session, which all clients share.
const knownTypes = new Set([
  bind,
  close,
  parse,
  query,
  flush,
  sync,
  terminate,
  ...[...'DEFcdf'].map(code),
]);

// The database ends its session when told to read rows that have not been sent yet.
const refusedStatement = Buffer.from(
  '"COPY FROM STDIN is not available in the embedded database"\0',
  'latin1',
);

/** Splits one client's input, in time linear in its size, whatever the chunk sizes. */
export class ClientStream {
  #chunks: Buffer[] = [];
  #length = 0;
  /** Bytes needed before another message can be complete; until then chunks are only stored. */
  #needed = 4;
  #started = false;
  #ended = false;
  #unit = emptyUnit();

  /** Adds bytes and returns what is now complete. Nothing follows a violation or termination. */
  push(chunk: Buffer): Incoming[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const incoming: Incoming[] = [];
    while (!this.#ended && this.#length >= this.#needed) {
      const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
      const rest = this.#started
        ? this.#readMessages(bytes, incoming)
        : this.#readStartup(bytes, incoming);
      this.#chunks = rest.length === 0 ? [] : [rest];
      this.#length = rest.length;
      if (rest.length < this.#needed) break;
    }
    if (this.#ended) this.#chunks = [];
    return incoming;
  }

  #end(incoming: Incoming[], last: Incoming): Buffer {
    this.#ended = true;
    incoming.push(last);
    return Buffer.alloc(0);
  }

  #readStartup(bytes: Buffer, incoming: Incoming[]): Buffer {
    const size = bytes.readInt32BE(0);
    if (size < 8 || size > maxStartupBytes) {
      return this.#end(incoming, violation(`startup packet of ${size} bytes`));
    }
    this.#needed = size;
    if (bytes.length < size) return bytes;

    this.#needed = 4;
    const version = bytes.readInt32BE(4);
    if (version === sslCode || version === gssCode) {
      incoming.push({ kind: 'encryptionRequest' });
    } else if (version === cancelCode) {
      return this.#end(incoming, { kind: 'cancelRequest' });
    } else if (version >> 16 !== protocolThree) {
      return this.#end(incoming, violation(`protocol version ${version >> 16}`));
    } else {
      this.#started = true;
      this.#needed = 5;
      incoming.push({ kind: 'startup', parameters: readParameters(bytes.subarray(8, size)) });
    }
    return bytes.subarray(size);
  }

  #readMessages(bytes: Buffer, incoming: Incoming[]): Buffer {
    let taken = 0;
    let at = 0;
    this.#needed = 5;
    while (bytes.length - at >= 5) {
      const type = bytes[at]!;
      const size = bytes.readInt32BE(at + 1);
      if (!knownTypes.has(type)) {
        return this.#end(incoming, violation(`message type ${type}`));
      }
      if (size < 4 || this.#unit.size + (at - taken) + size >= maxUnitBytes) {
        return this.#end(incoming, violation(`message of ${size} bytes`));
      }
      const end = at + 1 + size;
      if (end > bytes.length) {
        this.#needed = end - at;
        break;
      }
      if (type === terminate) return this.#end(incoming, { kind: 'terminate' });

      if ((type === parse || type === query) && copiesFromStdin(bytes.subarray(at + 5, end))) {
        this.#take(bytes.subarray(taken, at));
        this.#take(refuse(bytes.subarray(at, end)));
        taken = end;
      }
      if (type === parse || type === close) this.#noteStatement(type, bytes.subarray(at + 5, end));
      at = end;

      if (type === sync || type === query || type === flush) {
        this.#take(bytes.subarray(taken, at));
        incoming.push({ kind: 'unit', unit: this.#unit });
        this.#unit = emptyUnit();
        taken = at;
      }
    }
    this.#take(bytes.subarray(taken, at));
    return bytes.subarray(at);
  }

  #take(part: Buffer): void {
    if (part.length === 0) return;
    this.#unit.parts.push(part);
    this.#unit.size += part.length;
  }

  #noteStatement(type: number, body: Buffer): void {
    // The first byte of a Close message is its target: 'S' for a statement, 'P' for a portal.
    if (type === close && body[0] !== sync) return;
    const start = type === close ? 1 : 0;
    const name = body.toString('latin1', start, Math.max(start, body.indexOf(0, start)));
    if (name !== '') this.#unit.statements.push({ name, open: type === parse });
  }
}

/** A protocol message; most have the same format in both directions. */
export function message(type: string, ...body: (string | Buffer)[]): Buffer {
  const content = Buffer.concat(
    body.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : part)),
  );
  const header = Buffer.alloc(5);
  header.write(type, 'latin1');
  header.writeInt32BE(4 + content.length, 1);
  return Buffer.concat([header, content]);
}

/** A statement in the simple protocol. */
export function queryMessage(sql: string): Buffer {
  return message('Q', `${sql}\0`);
}

/** Closes named statements; closing one that does not exist is not an error. */
export function closeStatements(names: Iterable<string>): Buffer {
  const closing = [...names].map((name) => message('C', 'S', Buffer.from(`${name}\0`, 'latin1')));
  return Buffer.concat([...closing, syncMessage]);
}

export const syncMessage = message('S');

/** A server's messages to a client that needs no password. */
export function greeting(parameters: Record<string, string>, processId: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeInt32BE(processId, 0);
  return Buffer.concat([
    message('R', Buffer.alloc(4)),
    ...Object.entries(parameters).map(([name, value]) => message('S', `${name}\0${value}\0`)),
    message('K', key),
    message('Z', 'I'),
  ]);
}

/** A server's last message before it closes a connection. */
export function fatalError(sqlState: string, text: string): Buffer {
  return errorMessage('FATAL', sqlState, text);
}

export function errorMessage(severity: 'ERROR' | 'FATAL', sqlState: string, text: string): Buffer {
  return message('E', `S${severity}\0V${severity}\0C${sqlState}\0M${text}\0\0`);
}

const readOnlyTransaction = '25006';
const diskFull = '53100';

/** Replaces the error of writes that failed because the transaction was made read-only. */
export function explainRefusals(answer: Buffer, reason: string): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < answer.length;) {
    const end = at + 1 + answer.readInt32BE(at + 1);
    const part = answer.subarray(at, end);
    parts.push(isReadOnlyRefusal(part) ? errorMessage('ERROR', diskFull, reason) : part);
    at = end;
  }
  return Buffer.concat(parts);
}

function isReadOnlyRefusal(part: Buffer): boolean {
  return part.toString('latin1', 0, 1) === 'E' && part.includes(`\0C${readOnlyTransaction}\0`);
}

/**
 * Whether an answer leaves the session idle: it then ends with ReadyForQuery, whose last byte is the status.
 * After a flush, or an error before a sync, it ends with another message.
 */
export function endsIdle(answer: Buffer): boolean {
  return endsWith(answer, 'Z\0\0\0\x05I');
}

/** Whether an answer leaves the session in a transaction that has not failed. */
export function endsInTransaction(answer: Buffer): boolean {
  return endsWith(answer, 'Z\0\0\0\x05T');
}

function endsWith(answer: Buffer, text: string): boolean {
  return answer.subarray(-text.length).toString('latin1') === text;
}

function emptyUnit(): Unit {
  return { parts: [], size: 0, statements: [] };
}

function code(letter: string): number {
  return letter.charCodeAt(0);
}

function violation(what: string): Incoming {
  return { kind: 'violation', message: `invalid ${what}` };
}

function readParameters(body: Buffer): Map<string, string> {
  const texts = body.toString('utf8').split('\0');
  const parameters = new Map<string, string>();
  for (let index = 0; index + 1 < texts.length && texts[index] !== ''; index += 2) {
    parameters.set(texts[index]!, texts[index + 1]!);
  }
  return parameters;
}

/** May reject too much: every statement that copies from the client contains both words. */
function copiesFromStdin(body: Buffer): boolean {
  const sql = body.toString('latin1');
  return /\bstdin\b/i.test(sql) && /\bcopy\b/i.test(sql);
}

/** The same message with a statement that cannot be parsed, so that the rejection is an ordinary error. */
function refuse(original: Buffer): Buffer {
  if (original[0] === query) return message('Q', refusedStatement);
  const nameEnd = original.indexOf(0, 5) + 1;
  return message('P', original.subarray(5, nameEnd), refusedStatement, Buffer.alloc(2));
}
