import { type ServerProcess, startConstant } from '../processes.ts';
import { beginTable, figure } from '../report.ts';
import { type Sample, alternate, medianOf, ratioOf, sample } from '../sample.ts';
import { type Transport, type Workload, oneOf, targetOf, typicalAnswer } from '../workloads.ts';
import type { Section } from './section.ts';

/** Each operation over both transports against a bare server that answers the same bytes. */
export const operationsSection: Section = {
  name: 'operations',
  async measure(world, workloads) {
    await using service = await world.startWarm();
    const key = world.shop.keys[0] as string;
    const row = beginTable([
      'operation',
      'of bare',
      'requests/s',
      'bare/s',
      'CPU µs: service',
      'bare',
      'of bare',
      'database',
      'p50 ms',
      'p99 ms',
      'of REST',
      'CPU of REST',
      'bare',
    ]);
    const printRow = (name: string, ours: Sample[], bare: Sample[], ofRest: string[] = []) =>
      row(
        name,
        figure(ratioOf(ours, bare), 3),
        figure(medianOf(ours, 'perSecond')),
        figure(medianOf(bare, 'perSecond')),
        figure(medianOf(ours, 'serviceCpu'), 1),
        figure(medianOf(bare, 'serviceCpu'), 1),
        figure(medianOf(ours, 'serviceCpu') / medianOf(bare, 'serviceCpu'), 1),
        figure(medianOf(ours, 'databaseCpu'), 1),
        figure(medianOf(ours, 'p50'), 2),
        figure(medianOf(ours, 'p99'), 2),
        ...ofRest,
      );

    const compare = async (workload: Workload, suffix: string, nextKey: () => string) => {
      const startBare = async (transport: Transport) =>
        startConstant(await typicalAnswer(workload, transport, service.port, nextKey()));
      await using bareRest = await startBare('REST');
      await using bareMcp = await startBare('MCP');
      const turn = (transport: Transport, { port, pid }: ServerProcess) =>
        sample(targetOf(workload, transport, [port], nextKey), {
          service: [pid],
          database: world.databasePid,
        });
      const results = await alternate({
        rest: () => turn('REST', service),
        bareRest: () => turn('REST', bareRest),
        mcp: () => turn('MCP', service),
        bareMcp: () => turn('MCP', bareMcp),
      });
      printRow(`${workload.name}${suffix} REST`, results.rest, results.bareRest);
      printRow(`${workload.name}${suffix} MCP`, results.mcp, results.bareMcp, [
        figure(ratioOf(results.mcp, results.rest), 3),
        cpuRatio(results.mcp, results.rest),
        cpuRatio(results.bareMcp, results.bareRest),
      ]);
    };

    for (const workload of workloads) {
      await compare(workload, '', () => key);
      if (workload.varied?.argument !== 'customerId') continue;
      const { keys, customers } = world.many;
      const ofMany = { ...workload, varied: { ...workload.varied, ...customers } };
      await compare(ofMany, `, ${keys.length} shops`, () => oneOf(keys));
    }
  },
};

function cpuRatio(ones: readonly Sample[], others: readonly Sample[]): string {
  return figure(medianOf(ones, 'serviceCpu') / medianOf(others, 'serviceCpu'), 2);
}
