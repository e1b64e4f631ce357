import { beginTable, figure, print } from '../bench/report.ts';
import { type Summary, runDrill } from '../faults/drill.ts';
import type { Fault } from '../faults/fault.ts';
import { type Result, tryFault } from '../faults/trial.ts';
import { summarise } from '../faults/verdict.ts';
import { listMissingPrograms } from './nodes.ts';
import { listDamagedShards } from './shards.ts';
import { crashes } from './table/crashes.ts';
import { failovers } from './table/failover.ts';
import { moves } from './table/moves.ts';
import { type World, openWorld } from './world.ts';

const events: readonly Fault<World>[] = [...moves, ...crashes(), ...failovers()];

async function run(
  selected: readonly Fault<World>[],
  opened: () => Promise<World>,
): Promise<Summary> {
  const begin = performance.now();
  const world = await opened();
  const results = await tryAll(selected, world);
  await world.traffic.end();
  await world.owner.end();
  const { deadlocks } = world.cluster;
  if (deadlocks > 0) print(`Other moves were repeated ${deadlocks} times after a deadlock.`);
  for (const note of world.notes) print(note);
  const { problems, closing } = summarise(
    results,
    world,
    (performance.now() - begin) / 1000,
    'events',
  );
  const { wrong, imported } = world.importer;
  return {
    problems: [...problems, ...wrong.slice(0, 5)],
    closing: `${closing.slice(0, -1)}, ${imported} records imported.`,
  };
}

async function tryAll(selected: readonly Fault<World>[], world: World): Promise<Result[]> {
  const row = beginTable([
    'event',
    'event s',
    'answers',
    'refused',
    'recovered s',
    'slowest s',
    'keys failed',
    'writing s',
    'imported',
    'imports failed',
    'wrong',
  ]);
  const results: Result[] = [];
  for (const event of selected) {
    const { imported, failed } = world.importer;
    const wrong = countWrong(world);
    const result = await tryFault(event, world);
    const problems = await verify(world);
    results.push({ ...result, problems: [...result.problems, ...problems] });
    row(
      result.name,
      figure(result.faultSeconds, 1),
      figure(result.answers),
      figure(result.refused),
      figure(result.recoverySeconds, 1),
      figure(result.slowestSeconds, 1),
      figure(result.writesFailed),
      figure(result.writingSeconds, 1),
      figure(world.importer.imported - imported),
      figure(world.importer.failed - failed),
      figure(countWrong(world) - wrong + problems.length),
    );
  }
  return results;
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

await runDrill({
  name: 'cluster',
  faults: events,
  missing: listMissingPrograms(),
  open: openWorld,
  run,
});
