/* Asks /healthz again and again, in a thread of its own: the drill's is busy with bodies. */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { waitedMilliseconds, workedMilliseconds } from './cores.ts';
import type { Health } from './health.ts';

const { baseUrl, pid } = workerData as { readonly baseUrl: string; readonly pid: number };
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const pauseMilliseconds = 10;
const none: Health = { longest: 0, answers: 0, failures: [] };
let health = none;

function ask(): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(`${baseUrl}/healthz`, { agent }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
      response.once('error', reject);
    }).once('error', reject);
  });
}

async function probe(): Promise<void> {
  const begin = performance.now();
  const waited = waitedMilliseconds();
  const worked = workedMilliseconds(pid);
  let failure: string | undefined;
  try {
    const status = await ask();
    if (status !== 200) failure = `/healthz answered ${status}`;
  } catch (error) {
    failure = `/healthz: ${String(error)}`;
  }
  const taken = performance.now() - begin - (waitedMilliseconds() - waited);
  const counted = Math.max(0, Math.min(taken, workedMilliseconds(pid) - worked));
  health = {
    longest: Math.max(health.longest, counted),
    answers: health.answers + 1,
    failures: failure === undefined ? health.failures : [...health.failures, failure],
  };
}

const asked = { take: false, end: false };
parentPort?.on('message', (question: 'take' | 'end') => {
  asked[question] = true;
});

while (!asked.end) {
  // The one under way belongs to what has been sent so far.
  await probe();
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
