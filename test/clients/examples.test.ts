import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { generateShop } from '../../src/demo/generate.ts';
import { minorDigitsOf } from '../../src/money.ts';
import { root } from '../cli/process.ts';
import { type World, get, importAll, now, openAnyStore, startWorld } from '../support/world.ts';
import { outputOf } from './live.ts';
import { python, pythonEnv, pythonFolder, pythonMissing } from './python.ts';

const typescriptFolder = path.join(root, 'clients/typescript');

const languages = [
  {
    name: 'TypeScript',
    missing: false,
    program: process.execPath,
    file: (example: string) => path.join(typescriptFolder, 'examples', `${example}.ts`),
    env: process.env,
  },
  {
    name: 'Python',
    missing: pythonMissing,
    program: python,
    file: (example: string) => path.join(pythonFolder, 'examples', `${example}.py`),
    env: pythonEnv,
  },
] as const;

let world: World;
before(async () => {
  world = await startWorld(openAnyStore());
  const demo = generateShop({
    subscriptions: 150,
    seed: 1,
    endAt: Date.parse(now),
    currency: 'USD',
    minorDigits: minorDigitsOf('USD') ?? 2,
  });
  const { refused } = await importAll(world.store, world.shop, [...demo]);
  assert.deepEqual(refused, []);
  // The examples use the package as it would be published.
  const compiler = path.join(root, 'node_modules/.bin/tsc');
  await promisify(execFile)(compiler, ['-p', path.join(typescriptFolder, 'tsconfig.build.json')]);
});
after(() => world.close());

for (const { name, missing, program, file, env } of languages) {
  describe(`the examples in ${name}, with the demo's data`, { skip: missing }, () => {
    const start = (example: string, more: Readonly<Record<string, string>> = {}): ChildProcess =>
      spawn(program, [file(example)], {
        env: {
          ...env,
          RETENTION_URL: world.service.baseUrl,
          RETENTION_API_KEY: world.key,
          ...more,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });

    test('export all subscriptions as CSV', async () => {
      const text = await outputOf(start('export'));
      const [head, ...rows] = text.replaceAll('"', '').trimEnd().split(/\r?\n/);
      assert.equal(head, 'subscriptionId,customerId,status,planName,currentPrice');
      assert.equal(rows.length, 150);
      assert.equal(new Set(rows.map((row) => row.split(',')[0])).size, 150);
    });

    test('end quietly when what they export is not read to its end', async () => {
      const child = start('export');
      child.stdout?.destroy();
      const ended = once(child, 'close');
      assert.equal(await readText(child.stderr ?? assert.fail()), '');
      const [status, signal] = await ended;
      assert.ok(status === 0 || signal === 'SIGPIPE', `${status} ${signal}`);
    });

    test('post the figures of the day', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const output = outputOf(start('daily', { WEBHOOK_URL: `http://127.0.0.1:${port}/` }));
      const [request, response] = await once(server, 'request');
      const { text } = JSON.parse(await readText(request));
      response.end();
      await output;
      const { body } = await get(`${world.base}/metrics/summary`, world.key);
      assert.ok(text.includes(`${body.summary.activeSubscribers} active subscribers`), text);
      server.close();
    });

    test('let customers in who are entitled', async () => {
      const child = start('gate', { PORT: '0' });
      const [line] = await once(child.stdout ?? assert.fail(), 'data');
      const port = /port (\d+)/.exec(String(line))?.[1];
      const ask = async (customer: string) =>
        (await fetch(`http://127.0.0.1:${port}/?customer=${customer}`)).status;
      const customers = [501, 502, 503, 504, 505, 506];
      const entitled = await Promise.all(
        customers.map(async (id) => {
          const { body } = await get(`${world.base}/entitlements?customerId=${id}`, world.key);
          return body.subscriptions.some((each: { isEntitled: boolean }) => each.isEntitled);
        }),
      );
      assert.equal(new Set(entitled).size, 2, 'some are, some are not');
      const statuses = await Promise.all(customers.map((id) => ask(String(id))));
      assert.deepEqual(
        statuses,
        entitled.map((each) => (each ? 200 : 402)),
      );
      assert.equal(await ask('x'), 400);
      child.kill();
      await once(child, 'close');
    });
  });
}

/** Puts the spans of the README's code into memory, and prints them. */
const traced = (code: string) => `
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
const exporter = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor({ exporter })];
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors }));
${code}
await retention.listPlans();
await retention.getSubscription(1).catch(() => {});
const finished = exporter.getFinishedSpans();
console.log(JSON.stringify(finished.map(({ name, attributes, events }) => [name, attributes, events.length])));
`;

test('the README traces each attempt with OpenTelemetry', async () => {
  const readme = readFileSync(path.join(typescriptFolder, 'README.md'), 'utf8');
  const blocks = readme.split('```ts\n');
  const code = blocks.find((block) => block.includes('opentelemetry')) ?? assert.fail();
  const program = traced(code.replace(/```[^]*/, ''));
  const args = ['--input-type=module-typescript', '--no-warnings', '--eval', program];
  const env = {
    ...process.env,
    RETENTION_URL: world.service.baseUrl,
    RETENTION_API_KEY: world.key,
  };
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: typescriptFolder,
    env,
  });
  assert.deepEqual(JSON.parse(stdout), [
    ['listPlans', { 'http.response.status_code': 200 }, 0],
    ['getSubscription', { 'http.response.status_code': 404 }, 1],
  ]);
});

test('the README of the service asks with both clients', async () => {
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8').replaceAll(
    'http://127.0.0.1:8787',
    world.service.baseUrl,
  );
  const codeIn = (language: string) =>
    readme.split(`\`\`\`${language}\n`)[1]?.replace(/```[^]*/, '') ?? assert.fail(language);
  const { body } = await get(`${world.base}/entitlements?customerId=505`, world.key);
  const isEntitled = body.subscriptions.some((each: { isEntitled: boolean }) => each.isEntitled);
  // In the package's folder, its own name leads to it, as where it is installed.
  const ask = async (program: string, args: readonly string[], env: NodeJS.ProcessEnv) => {
    const options = { cwd: typescriptFolder, env: { ...env, RETENTION_API_KEY: world.key } };
    return (await promisify(execFile)(program, args, options)).stdout;
  };
  const node = ['--input-type=module-typescript', '--no-warnings', '--eval', codeIn('ts')];
  assert.equal(await ask(process.execPath, node, process.env), `${isEntitled}\n`);
  if (pythonMissing !== false) return;
  const answer = await ask(python, ['-c', codeIn('python')], pythonEnv);
  assert.equal(answer.toLowerCase(), `${isEntitled}\n`);
});

test('no example has more than 29 lines', () => {
  const files = globSync('clients/*/examples/*', { cwd: root });
  assert.equal(files.length, 6);
  const long = files.filter(
    (each) => readFileSync(path.join(root, each), 'utf8').split('\n').length > 30,
  );
  assert.deepEqual(long, []);
});
