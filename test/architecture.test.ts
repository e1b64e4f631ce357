import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { modules } from './modules.ts';

const root = path.join(import.meta.dirname, '..');
const filesIn = (...patterns: string[]) => globSync(patterns, { cwd: root }).toSorted();
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const sources = filesIn('src/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
const all = filesIn('src/**/*.ts', 'test/**/*.ts');

interface Import {
  readonly file: string;
  /** Both without `src/` and `.ts`. */
  readonly from: string;
  readonly to: string;
  readonly isTypeOnly: boolean;
}

const imports: readonly Import[] = sources.flatMap((file) => {
  const statements = read(file).matchAll(
    /^(?:import|export)\s([^;'"]*?)from\s+'([^']+)';|\bimport\(\s*'([^']+)'\s*\)|new URL\('([^']+\.ts)', import\.meta/gm,
  );
  return [...statements].flatMap(([, names = '', fromTarget, dynamic, worker]): Import[] => {
    const target = fromTarget ?? dynamic ?? worker ?? '';
    if (!target.startsWith('.')) return [];
    const words = names.replace(/[{}]/g, '').split(',');
    const isTypeOnly =
      fromTarget !== undefined &&
      (/^type\s/.test(names) ||
        words.every((word) => word.trim() === '' || /^type\s/.test(word.trim())));
    const to = path.posix.join(path.posix.dirname(file), target);
    return [{ file, from: nameOf(file), to: nameOf(to), isTypeOnly }];
  });
});

function nameOf(file: string): string {
  return file.replace(/^src\//, '').replace(/\.ts$/, '');
}

function moduleOf(name: string): string {
  return name.split('/')[0] as string;
}

function isAllowed({ from, to, isTypeOnly }: Import): boolean {
  const { imports: allowed = [], types = [] } = modules[moduleOf(from)] ?? {};
  return [...allowed, ...(isTypeOnly ? types : [])].some(
    (each) => to === each || to.startsWith(`${each}/`),
  );
}

/** The cycles in a graph. */
function cyclesIn(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (name: string, trail: readonly string[]) => {
    const begin = trail.indexOf(name);
    if (begin !== -1) return void cycles.push([...trail.slice(begin), name].join(' → '));
    if (done.has(name)) return;
    for (const next of graph.get(name) ?? []) walk(next, [...trail, name]);
    done.add(name);
  };
  for (const name of graph.keys()) walk(name, []);
  return cycles;
}

/** The import graph, types included, of files or of the groups that `group` maps them to. */
function importGraph(group: (name: string) => string): Map<string, Set<string>> {
  const map = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    if (group(from) === group(to)) continue;
    const others = map.get(group(from)) ?? new Set();
    map.set(group(from), others.add(group(to)));
  }
  return map;
}

test('every file belongs to a module in the table', () => {
  assert.deepEqual(
    sources.filter((file) => !modules[moduleOf(nameOf(file))]),
    [],
  );
});

test('modules import only what the table allows', () => {
  const violations = imports
    .filter(({ from, to }) => moduleOf(from) !== moduleOf(to))
    .filter((each) => !isAllowed(each))
    .map(({ file, to, isTypeOnly }) => `${file} imports ${isTypeOnly ? 'types of ' : ''}${to}`);
  assert.deepEqual(violations, []);
});

test('there are no import cycles between files or modules, types included', () => {
  assert.deepEqual(cyclesIn(importGraph((name) => name)), []);
  assert.deepEqual(cyclesIn(importGraph(moduleOf)), []);
});

test('only the operations have a barrel file', () => {
  assert.deepEqual(
    all.filter((file) => path.basename(file) === 'index.ts'),
    ['src/operations/index.ts'],
  );
  assert.deepEqual(
    all.filter((file) => /^export\s+(?:type\s+)?(?:\*|\{[^}]*\})[^;]*?from\s/m.test(read(file))),
    [],
  );
});

test('there are no default exports', () => {
  const having = all.filter((file) => /^export\s+default\b/m.test(read(file)));
  assert.deepEqual(having, []);
});

test('no file has a meaningless name, such as utils', () => {
  const empty = /(?:^|[/-])(?:utils?|helpers?|common|manager|misc)(?:[/.-]|$)/;
  const named = all.filter((file) => empty.test(file));
  assert.deepEqual(named, []);
});

test('only the command line reads the environment, and passes it to the configuration', () => {
  assert.deepEqual(
    // The snippets are text, which programs of others run.
    sources.filter(
      (file) =>
        file !== 'src/reference/languages.ts' &&
        /\bprocess\.env\b|\benv\b.*from 'node:process'/.test(read(file)),
    ),
    ['src/commands/serve/process-io.ts'],
  );
  const reader = read('src/commands/serve/process-io.ts');
  assert.equal(reader.split('process.env').length, 2);
  assert.match(reader, /withEnvFile\(process\.env\)/);
  assert.match(read('src/commands/main.ts'), /parseConfig\(\s*io\.environment\(\),/);
});

test('only the clock reads the time, except for times and durations in the log', () => {
  const logged = new Set(['src/http/shell.ts', 'src/http/respond.ts']);
  assert.deepEqual(
    sources.filter(
      (file) =>
        /\bDate\.now\(|\bnew Date\(\)|\bhrtime\b/.test(read(file)) ||
        (!logged.has(file) && /\bperformance\.now\(/.test(read(file))),
    ),
    ['src/clock.ts', 'src/log/log-stream.ts', 'src/log/log.ts'],
  );
});

test('no folder has more than 20 files', () => {
  const folders = Map.groupBy(filesIn('src/**/*.*'), (file) => path.dirname(file));
  assert.deepEqual(
    [...folders].filter(([, files]) => files.length > 20).map(([folder]) => folder),
    [],
  );
});

test('no file is longer than 400 lines', () => {
  const long = all.filter((file) => read(file).split('\n').length - 1 > 400);
  assert.deepEqual(long, []);
});

test('every test file is in one group of those that run together', () => {
  const groups = filesIn('test/groups/*/*.ts').flatMap((group) => {
    const patterns = [...read(group).matchAll(/'([^']+\.test\.ts)'/g)].map(([, each = '']) => each);
    return filesIn(...patterns);
  });
  assert.deepEqual(
    groups.toSorted(),
    filesIn('{src,test,clients}/**/*.test.ts').filter((file) => !file.includes('node_modules')),
  );
});
