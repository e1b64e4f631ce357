import { beginTable, figure, print } from '../../bench/report.ts';
import { findPostgresPrograms } from '../../test/support/postgres.ts';
import { chosen } from '../chosen.ts';
import { runGuarded } from '../guard.ts';
import { type Body, type Door, doors } from './body.ts';
import { type Place, openPlace } from './place.ts';
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

async function sendOne(
  body: Body,
  place: Place,
  row: ReturnType<typeof beginTable>,
): Promise<Sent> {
  const { instance, health: probe } = place;
  await place.takeLongestStop();
  await probe.take();
  const begin = performance.now();
  const status = await body.send(place);
  const seconds = (performance.now() - begin) / 1000;
  const { worked: stopped, passed } = await place.takeLongestStop();
  const { longest: health, failures } = await probe.take();
  row(
    body.name.slice(body.door.length + 2),
    String(status || 'cut'),
    figure(stopped),
    figure(passed),
    figure(health),
    figure(seconds, 1),
  );
  const problems = [
    !body.expected.includes(status) && `answered ${status}, not ${body.expected.join(' or ')}`,
    stopped > maxMilliseconds && `the event loop stood still for ${figure(stopped)} ms`,
    health > maxMilliseconds && `/healthz took ${figure(health)} ms`,
    seconds > maxSeconds && `it took ${figure(seconds)} s`,
    ...failures.slice(0, 1),
    ...instance.deaths.splice(0),
  ].filter((problem) => problem !== false);
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
