import { figure, print } from '../bench/report.ts';
import { runDrill } from '../faults/drill.ts';
import type { Fault } from '../faults/fault.ts';
import { type Result, tryFault } from '../faults/trial.ts';
import { listMissingPrograms } from './nodes.ts';
import { listDamagedShards } from './shards.ts';
import { crashes } from './table/crashes.ts';
import { failovers } from './table/failover.ts';
import { moves } from './table/moves.ts';
import { type World, openWorld } from './world.ts';

const events: readonly Fault<World>[] = [...moves, ...crashes(), ...failovers()];

interface EventResult extends Result {
  readonly imported: number;
  readonly importsFailed: number;
  readonly wrong: number;
}

async function tryEvent(event: Fault<World>, world: World): Promise<EventResult> {
  const { imported, failed } = world.importer;
  const wrong = countWrong(world);
  const result = await tryFault(event, world);
  const problems = await verify(world);
  return {
    ...result,
    problems: [...result.problems, ...problems],
    imported: world.importer.imported - imported,
    importsFailed: world.importer.failed - failed,
    wrong: countWrong(world) - wrong + problems.length,
  };
}

const countWrong = ({ traffic, owner, importer }: World) =>
  traffic.wrong.length + owner.wrong.length + importer.wrong.length;

/** Whether all that was imported is stored once, and counted so. */
async function verify({ cluster, importer, shops, runCommand }: World): Promise<string[]> {
  return importer.whilePaused(async () => {
    const problems = [...(await importer.findLost()), ...(await listDamagedShards(cluster))];
    for (const id of [importer.shopId, ...shops.map((shop) => shop.id)]) {
      await runCommand('metrics', 'verify', '--shop', String(id)).catch((error: Error) =>
        problems.push(`shop ${id}: ${error.message}`),
      );
    }
    return problems;
  });
}

const hasPassed = await runDrill({
  name: 'cluster',
  noun: 'event',
  faults: events,
  columns: {
    'event s': (result: EventResult) => figure(result.faultSeconds, 1),
    answers: (result) => figure(result.answers),
    refused: (result) => figure(result.refused),
    'recovered s': (result) => figure(result.recoverySeconds, 1),
    'slowest s': (result) => figure(result.slowestSeconds, 1),
    'keys failed': (result) => figure(result.writesFailed),
    'writing s': (result) => figure(result.writingSeconds, 1),
    imported: (result) => figure(result.imported),
    'imports failed': (result) => figure(result.importsFailed),
    wrong: (result) => figure(result.wrong),
  },
  missing: listMissingPrograms(),
  open: openWorld,
  tryOne: tryEvent,
  conclude({ cluster: { deadlocks }, notes, importer }, { problems, closing }) {
    if (deadlocks > 0) print(`Other moves were repeated ${deadlocks} times after a deadlock.`);
    for (const note of notes) print(note);
    return {
      problems: [...problems, ...importer.wrong.slice(0, 5)],
      closing: `${closing.slice(0, -1)}, ${importer.imported} records imported.`,
    };
  },
});
process.exitCode = hasPassed ? 0 : 1;
