/* Asks /healthz again and again, in a thread of its own: the drill's is busy with bodies. */
import { Agent, type IncomingMessage, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { onCoreHeader, waitedMilliseconds, workedMilliseconds } from './cores.ts';
import type { Health } from './health.ts';

const { baseUrl, pid } = workerData as { readonly baseUrl: string; readonly pid: number };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const pauseMilliseconds = 10;
const none: Health = { longest: 0, failures: [] };
let health = none;

function ask(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${baseUrl}/healthz`, { agent, headers: { [onCoreHeader]: '' } }, (response) => {
      response.resume().once('end', () => resolve(response));
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** @returns how long the answer took, in milliseconds, as `Health` counts it */
async function probe(): Promise<number> {
  const begin = performance.now();
  const waited = waitedMilliseconds();
  const worked = workedMilliseconds(pid);
  const { statusCode, headers } = await ask();
  const taken = performance.now() - begin - (waitedMilliseconds() - waited);
  if (statusCode !== 200) throw new Error(`it answered ${statusCode}`);
  return Math.min(taken, Number(headers[onCoreHeader]) - worked);
}

const asked = { take: false, end: false };
parentPort?.on('message', (question: 'take' | 'end') => {
  asked[question] = true;
});

while (!asked.end) {
  // The one under way belongs to what has been sent so far.
  try {
    health = { ...health, longest: Math.max(health.longest, await probe()) };
  } catch (error) {
    health = { ...health, failures: [...health.failures, `/healthz: ${String(error)}`] };
  }
  if (asked.take) {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    parentPort?.postMessage(health);
    health = none;
    asked.take = false;
  }
  await sleep(pauseMilliseconds);
}
agent.destroy();
parentPort?.close();
