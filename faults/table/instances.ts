import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import type { World } from '../world.ts';

const awayMilliseconds = 1_000;
const requestPauseMilliseconds = 300;

/** Faults of one of the two instances; the other one continues. */
export function instanceFaults(): readonly Fault[] {
  let problems: string[] = [];
  return [
    {
      name: 'an instance killed -9, started',
      mayRefuse: false,
      async inject({ instances: [one] }) {
        await one.kill();
        await sleep(awayMilliseconds);
      },
      end: ({ instances: [one] }) => one.start(),
    },
    {
      name: 'SIGTERM, with half a request',
      mayRefuse: false,
      async inject(world) {
        problems = [];
        const [, two] = world.instances;
        const begun = await sendHalf(world, headOf(world));
        const never = await sendHalf(world, `${headOf(world)}Content-Length: 10\r\n\r\nhalf`);
        const answered = once(begun, 'data');
        const ended = two.stop();
        await sleep(requestPauseMilliseconds);
        begun.write('\r\n');
        const [answer] = await Promise.race([answered, ended.then(() => ['nothing'])]);
        if (!String(answer).startsWith('HTTP/1.1 200')) {
          problems.push(`a request that ended after SIGTERM got ${String(answer).slice(0, 40)}`);
        }
        const how = await ended;
        if (how !== 'status 0') problems.push(`SIGTERM: the instance ended with ${how}`);
        begun.destroy();
        never.destroy();
      },
      end: ({ instances: [, two] }) => two.start(),
      check: () => problems,
    },
  ];
}

function headOf({ key }: World): string {
  return `GET /api/external/v1/plans HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n`;
}

async function sendHalf({ instances: [, two] }: World, text: string): Promise<Socket> {
  const { hostname, port } = new URL(two.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {
    // The instance closes the connection when it stops.
  });
  await once(socket, 'connect');
  socket.write(text);
  await two.readiness();
  return socket;
}
