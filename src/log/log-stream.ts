import { fstatSync, write, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { forPeople } from './visible.ts';

/** Lines are collected up to this size: a write per line would cost more than the logged work. */
const chunkCharacters = 16_000;
const intervalMilliseconds = 500;
/** Beyond this, lines are dropped: a stalled reader must not block us or fill the memory. */
const maxWaitingCharacters = 1_000_000;

/** Writes text without blocking; passes any error to the callback. */
export type Sink = (text: string, done: (error?: Error | null) => void) => void;

/**
 * Buffers log lines. If the destination stalls, fills up or goes away, only lines are lost; they
 * are counted, and reported once the destination accepts lines again.
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

  /** @param done called once all earlier lines are written or lost */
  flush(done: () => void = () => {}): void {
    this.#flushed.push(done);
    this.#send();
  }

  /** Takes what is left at exit, for a last synchronous write. */
  takeRest(): string {
    const rest = this.#waiting;
    this.#waiting = '';
    return rest;
  }

  #send(): void {
    if (this.#isWriting) return;
    const text = this.#waiting;
    if (text === '') return this.#notifyFlushed();
    this.#waiting = '';
    this.#isWriting = true;
    this.#sink(text, (error) => {
      this.#isWriting = false;
      if (error) this.#dropped += countLines(text);
      else if (this.#dropped > 0) this.#reportDropped();
      if (this.#flushed.length > 0 || this.#waiting.length >= chunkCharacters) this.#send();
    });
  }

  #notifyFlushed(): void {
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

/** Opens standard error, for people if it is a terminal. The process never waits for it, not even at exit. */
export function openStandardError(): LogStream {
  const fd = 2;
  // For pipes, use Node.js's stream: fs.write to a full pipe would block a thread, and the process
  // waits for that thread at exit. For files, use fs.write: the stream writes synchronously and
  // ends at an error.
  const isPipe = isPipeLike(fd);
  const render = isatty(fd) ? forPeople : (lines: string) => lines;
  const sink: Sink = isPipe ? writeToPipe : (text, done) => writeAll(fd, text, done);
  const stream = new LogStream((lines, done) => sink(render(lines), done));
  if (isPipe) {
    // The reader is gone; each write reports that to its callback.
    process.stderr.on('error', () => {});
  }
  process.on('exit', () => {
    const rest = render(stream.takeRest());
    if (rest === '') return;
    try {
      if (isPipe) process.stderr.write(rest);
      else writeSync(fd, rest);
    } catch {
      // There is no way left to report it.
    }
  });
  return stream;
}

function isPipeLike(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket() || process.stderr.isTTY === true;
  } catch {
    // Standard error is closed.
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
