import { fstatSync, write, writeSync } from 'node:fs';

/** Collected until there is so much: a write per line would cost more than the work that it is about. */
const chunkCharacters = 16_000;
const intervalMilliseconds = 500;
/** Beyond it lines are dropped: a reader that has stalled must not hold up or fill the process. */
const maxWaitingCharacters = 1_000_000;

/** Writes a text somewhere, without blocking; the callback is told of a failure. */
export type Sink = (text: string, done: (error?: Error | null) => void) => void;

/**
 * Lines on their way out. A destination that stalls, fills up or goes away costs lines, which are counted and
 * reported once it takes some again, and nothing else.
 */
export class LogStream {
  readonly #sink: Sink;
  #waiting = '';
  #isWriting = false;
  #dropped = 0;
  #flushed: (() => void)[] = [];

  constructor(sink: Sink) {
    this.#sink = sink;
    setInterval(() => this.#send(), intervalMilliseconds).unref();
  }

  write(lines: string): void {
    if (this.#waiting.length + lines.length > maxWaitingCharacters) {
      this.#dropped += countLines(lines);
      return;
    }
    this.#waiting += lines;
    if (this.#waiting.length >= chunkCharacters) this.#send();
  }

  /** @param done called once all that was written before has gone out, or is lost */
  flush(done: () => void = () => {}): void {
    this.#flushed.push(done);
    this.#send();
  }

  /** What is left when the process exits, for a synchronous last attempt. */
  takeRest(): string {
    const rest = this.#waiting;
    this.#waiting = '';
    return rest;
  }

  #send(): void {
    if (this.#isWriting) return;
    const text = this.#waiting;
    if (text === '') return this.#tellFlushed();
    this.#waiting = '';
    this.#isWriting = true;
    this.#sink(text, (error) => {
      this.#isWriting = false;
      if (error) this.#dropped += countLines(text);
      else if (this.#dropped > 0) this.#reportDropped();
      if (this.#flushed.length > 0 || this.#waiting.length >= chunkCharacters) this.#send();
    });
  }

  #tellFlushed(): void {
    for (const done of this.#flushed.splice(0)) done();
  }

  #reportDropped(): void {
    const line = {
      level: 'warn',
      time: Date.now(),
      lines: this.#dropped,
      msg: 'log lines dropped',
    };
    this.#dropped = 0;
    this.#waiting = `${JSON.stringify(line)}\n${this.#waiting}`;
  }
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** Standard error. The process never waits for it, not even to exit. */
export function openStandardError(): LogStream {
  const fd = 2;
  // A write to a pipe that is full would block a thread, which the process waits for when it exits. Node.js's
  // own stream keeps what a pipe does not take. To a file it would write synchronously, and end at an error.
  const isPipe = isPipeLike(fd);
  const stream = new LogStream(isPipe ? writeToPipe : (text, done) => writeAll(fd, text, done));
  if (isPipe) {
    // Its reader has gone; each write is told so.
    process.stderr.on('error', () => {});
  }
  process.on('exit', () => {
    const rest = stream.takeRest();
    if (rest === '') return;
    try {
      if (isPipe) process.stderr.write(rest);
      else writeSync(fd, rest);
    } catch {
      // Nothing is left that could say so.
    }
  });
  return stream;
}

function isPipeLike(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket() || process.stderr.isTTY === true;
  } catch {
    // It is closed.
    return false;
  }
}

function writeToPipe(text: string, done: (error?: Error | null) => void): void {
  process.stderr.write(text, done);
}

function writeAll(fd: number, text: string, done: (error?: Error | null) => void): void {
  const bytes = Buffer.from(text);
  const from = (offset: number) =>
    write(fd, bytes, offset, bytes.length - offset, null, (error, written) => {
      if (error || offset + written >= bytes.length) done(error);
      else from(offset + written);
    });
  from(0);
}
