/*
 * Preloaded into the measured process (`--import`): records how long its event loop stands still, and tells whoever asks
 * on the port STOPS_PORT. Requests that ask for it are answered with the time that the thread was on a core before.
 */
import { subscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';
import { onCoreHeader, workedMilliseconds } from './cores.ts';

/** The longest turn of the event loop since the last question, in milliseconds. */
export interface LongestStop {
  /** As far as the thread was on a core: on a busy machine it also waits for one. */
  worked: number;
  /** By the clock. */
  passed: number;
}

const beatMilliseconds = 2;

function record(port: number): void {
  let longest: LongestStop = { worked: 0, passed: 0 };
  let last = now();
  const beat = () => {
    const at = now();
    const passed = at.clock - last.clock;
    // Both clocks count in steps of their own.
    const worked = Math.min(passed, at.onCore - last.onCore);
    longest = {
      worked: Math.max(longest.worked, worked),
      passed: Math.max(longest.passed, passed),
    };
    last = at;
  };
  setInterval(beat, beatMilliseconds).unref();
  createServer((_, response) => {
    beat();
    response.end(JSON.stringify(longest));
    longest = { worked: 0, passed: 0 };
  })
    .listen(port, '127.0.0.1')
    .unref();
}

/** Says in the answer how long the thread had been on a core when it came to the request. */
function stampAnswers(): void {
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as {
      readonly request: IncomingMessage;
      readonly response: ServerResponse;
    };
    if (request.headers[onCoreHeader] === undefined) return;
    response.setHeader(onCoreHeader, String(workedMilliseconds(process.pid)));
  });
}

function now(): { readonly clock: number; readonly onCore: number } {
  const { user, system } = process.threadCpuUsage();
  return { clock: performance.now(), onCore: (user + system) / 1000 };
}

const port = process.env['STOPS_PORT'];
if (isMainThread && port !== undefined) {
  // Its own processes inherit the rest.
  delete process.env['STOPS_PORT'];
  record(Number(port));
  stampAnswers();
}
