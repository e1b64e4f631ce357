import { beginTable, figure, print } from '../../bench/report.ts';
import { findPostgresPrograms } from '../../test/support/postgres.ts';
import { chosen } from '../chosen.ts';
import { runGuarded } from '../guard.ts';
import { type Body, type Door, cut, doors } from './body.ts';
import { type Place, openPlace } from './place.ts';
import type { LongestStop } from './stops.ts';
import { formBodies } from './table/forms.ts';
import { mappedBodies } from './table/mapped.ts';
import { mcpBodies } from './table/mcp.ts';
import { pushBodies } from './table/push.ts';
import { restBodies } from './table/rest.ts';
import { uploadBodies } from './table/uploads.ts';
import { webhookBodies } from './table/webhooks.ts';

export const bodies: readonly Body[] = [
  ...restBodies,
  ...mcpBodies,
  ...pushBodies,
  ...mappedBodies,
  ...webhookBodies,
  ...uploadBodies,
  ...formBodies,
];

/** How long nobody else may be kept waiting. */
const maxMilliseconds = 100;
/** How long a body may keep the service busy, on a machine with other work, too. */
const maxSeconds = 240;

const maxMinutes = 20;

const nameWidth = 2 + Math.max(...bodies.map(({ name, door }) => name.length - door.length));
const columns = ['status', 'stopped ms', 'by the clock', 'healthz ms', 'seconds'];

const unknown: LongestStop = { worked: Number.NaN, passed: Number.NaN };

interface Sent {
  readonly door: Door;
  readonly stopped: number;
  readonly health: number;
  readonly problems: readonly string[];
}

/**
 * Sends every body to a service of its own, one after the other, and reports how long each kept its event loop from
 * everything else.
 * @returns whether none did for too long
 */
export async function runBodies(): Promise<boolean> {
  if (findPostgresPrograms() === undefined) {
    print('The bodies need PostgreSQL (postgres and initdb) on this machine.');
    return false;
  }
  return runGuarded('bodies', maxMinutes, async (open) => {
    const begin = performance.now();
    const place = await open(openPlace);
    const sent: Sent[] = [];
    for (const [door, ofDoor] of Map.groupBy(chosen(bodies), (body) => body.door)) {
      if (place.instance.state === 'down') break;
      const row = beginTable([door.padEnd(nameWidth), ...columns]);
      for (const body of ofDoor) {
        if (place.instance.state === 'up') sent.push(await sendOne(body, place, row));
      }
      print();
    }
    const problems = sent.flatMap((each) => each.problems);
    for (const problem of problems) print(`WRONG: ${problem}`);
    print(conclude(sent, (performance.now() - begin) / 1000));
    return problems.length === 0;
  });
}

interface Measured {
  readonly status: number;
  readonly seconds: number;
  readonly stop: LongestStop;
  /** The longest time until /healthz answered. */
  readonly health: number;
  readonly problems: readonly string[];
}

async function measure({ expected, send }: Body, place: Place): Promise<Measured> {
  const { instance, health: probe } = place;
  await place.takeLongestStop().catch(() => unknown);
  await probe.take();
  const begin = performance.now();
  const problems: string[] = [];
  const status = await send(place).catch((error: unknown) => {
    problems.push(`could not be sent to its end: ${String(error)}`);
    return undefined;
  });
  const seconds = (performance.now() - begin) / 1000;
  const stop = await place.takeLongestStop().catch(() => unknown);
  const { longest, failures } = await probe.take();
  if (status !== undefined && !expected.includes(status)) {
    problems.push(`answered ${status}, not ${expected.join(' or ')}`);
  }
  if (seconds > maxSeconds) problems.push(`it took ${figure(seconds)} s`);
  problems.push(...failures.slice(0, 1), ...instance.deaths.splice(0));
  return { status: status ?? cut, seconds, stop, health: longest, problems };
}

/** One that takes too long is sent again, and the shorter times count: a core that others use, too, is slower. */
async function sendOne(
  body: Body,
  place: Place,
  row: ReturnType<typeof beginTable>,
): Promise<Sent> {
  const first = await measure(body, place);
  const isLong = first.stop.worked > maxMilliseconds || first.health > maxMilliseconds;
  const second = isLong && first.problems.length === 0 ? await measure(body, place) : first;
  const stopped = Math.min(first.stop.worked, second.stop.worked);
  const health = Math.min(first.health, second.health);
  row(
    body.name.slice(body.door.length + 2),
    String(second.status || 'cut'),
    figure(stopped),
    figure(Math.min(first.stop.passed, second.stop.passed)),
    figure(health),
    figure(second.seconds, 1),
  );
  const problems = [...second.problems];
  if (Number.isNaN(stopped)) problems.push('the service is gone');
  if (stopped > maxMilliseconds) {
    problems.push(`the event loop stood still for ${figure(stopped)} ms`);
  }
  if (health > maxMilliseconds) problems.push(`/healthz took ${figure(health)} ms`);
  return {
    door: body.door,
    stopped,
    health,
    problems: problems.map((problem) => `${body.name}: ${problem}`),
  };
}

function conclude(sent: readonly Sent[], seconds: number): string {
  const byDoor = doors.flatMap((door) => {
    const ofDoor = sent.filter((each) => each.door === door);
    if (ofDoor.length === 0) return [];
    return [`${door} ${figure(Math.max(...ofDoor.map(({ stopped }) => stopped)))}`];
  });
  const health = Math.max(...sent.map((each) => each.health));
  return `${sent.length} bodies in ${figure(seconds)} s; the event loop stood still for at most, in ms: ${byDoor.join(', ')}; /healthz took ${figure(health)}, of at most ${maxMilliseconds}.`;
}
