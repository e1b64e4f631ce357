import { listPaths } from '../../test/owner/list-paths.ts';
import { Visitor, newEmail, password } from '../../test/owner/visitor.ts';
import { run, startService } from '../processes.ts';
import { figure } from '../report.ts';
import { median } from '../statistics.ts';
import type { Rows, ScaleWorld } from './steps.ts';

const rounds = 9;
const shopPath = '/app/shops/1';

/** How long the service takes for each of an owner's pages, and how large they are. */
export async function measurePages({ databaseUrl }: ScaleWorld, rows: Rows): Promise<void> {
  const env = { DATABASE_URL: databaseUrl };
  await using service = await startService(env, []);
  const invitation = run(['owners', 'invite', '--shop', '1', '--email', newEmail()], env);
  const link = /\/app\/links\/\S+/.exec(invitation)?.[0] ?? '';
  const visitor = new Visitor(`http://127.0.0.1:${service.port}`);
  await visitor.get(link);
  await visitor.post(link, { password });
  const { text: overview } = await visitor.get(shopPath);
  const linked = new RegExp(`<a href="(${shopPath}[^"?]*)"`, 'g');
  const navigation = /<nav aria-label="Main">.*?<\/nav>/s.exec(overview)?.[0] ?? '';
  const paths = [
    ...[...navigation.matchAll(linked)].map(([, path = '']) => path),
    ...listPaths.map((path) => shopPath + path),
  ];
  const ways = paths.flatMap((path) => [path, `${path}${path.includes('?') ? '&' : '?'}days=365`]);
  const times = new Map(ways.map((way): [string, number[]] => [way, []]));
  const bytes = new Map<string, number>();
  // The first round warms up.
  for (let round = -1; round < rounds; round += 1) {
    for (const [way, taken] of times) {
      const begin = performance.now();
      const { status, text } = await visitor.get(way);
      if (status !== 200) throw new Error(`${way} was answered with ${status}.`);
      if (round >= 0) taken.push(performance.now() - begin);
      bytes.set(way, Buffer.byteLength(text));
    }
  }
  for (const [way, taken] of times) {
    const kilobytes = figure((bytes.get(way) ?? 0) / 1000, 1);
    rows[`page ${way.slice(shopPath.length) || '/'}, ms: median; min; kB`] =
      `${figure(median(taken))}; ${figure(Math.min(...taken))}; ${kilobytes}`;
  }
}
