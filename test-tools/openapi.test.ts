import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { operations } from '../src/operations/index.ts';
import { importGenerated, restBody } from '../test/mcp/rest-equivalents.ts';
import { root } from '../test/cli/process.ts';
import { openAnyStore, startWorld, type World } from '../test/support/world.ts';
import { installTools, type Tools } from './install.ts';

const packages = {
  '@redocly/cli': '2.77.0',
  '@stoplight/spectral-cli': '6.16.3',
  'openapi-typescript': '7.13.0',
  '@hey-api/openapi-ts': '0.99.0',
  orval: '8.38.0',
  // The generators' own choice, and what their code needs.
  typescript: '5.9.3',
  zod: '4.6.7',
};
const document = path.join(root, 'openapi.json');

describe('other people’s tools and openapi.json', () => {
  let tools: Tools;
  let world: World;
  const write = (file: string, content: object) =>
    writeFileSync(path.join(tools.folder, file), JSON.stringify(content));

  before(async () => {
    tools = await installTools(packages);
    rmSync(path.join(tools.folder, 'generated'), { recursive: true, force: true });
    world = await startWorld(openAnyStore());
    assert.deepEqual((await importGenerated(world, 60, 1)).refused, []);
  });
  after(() => world.close());

  test('Redocly finds nothing by its strict rules', async () => {
    const said = await tools.run('redocly', ['lint', '--extends=recommended-strict', document]);
    assert.match(said, /Your API description is valid/);
    assert.doesNotMatch(said, /warning|ignored/i);
  });

  test('Spectral finds nothing, not even a hint', async () => {
    write('spectral.json', { extends: ['spectral:oas'] });
    const said = await tools.run('spectral', [
      'lint',
      '-r',
      'spectral.json',
      '-F',
      'hint',
      document,
    ]);
    assert.match(said, /No results with a severity of 'hint' or higher found!/);
  });

  test('openapi-typescript, hey-api and orval generate code that type checks', async () => {
    await tools.run('openapi-typescript', [document, '-o', 'generated/openapi-typescript.ts']);
    const plugins = ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', 'zod'];
    write('openapi-ts.config.json', { input: document, output: 'generated/hey-api', plugins });
    await tools.run('openapi-ts', ['-f', 'openapi-ts.config.json']);
    const output = (client: string) => ({
      input: document,
      output: { client, mode: 'single', target: `generated/orval-${client}.ts` },
    });
    write('orval.config.json', { fetch: output('fetch'), zod: output('zod') });
    await tools.run('orval', ['--config', 'orval.config.json']);
    write('tsconfig.json', {
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: 'esnext',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['esnext', 'dom', 'dom.iterable'],
        skipLibCheck: true,
        types: [],
      },
      include: ['generated'],
    });
    assert.equal(await tools.run('tsc', ['-p', '.']), '');
  });

  test('the zod schemas of hey-api and orval accept every operation’s answer', async () => {
    const load = (file: string) =>
      import(pathToFileURL(path.join(tools.folder, 'generated', file)).href);
    const [ofHeyApi, ofOrval] = [await load('hey-api/zod.gen.ts'), await load('orval-zod.ts')];
    const inputs: Readonly<Record<string, object>> = {
      get_entitlements: { customerId: await firstOf('customerId') },
      get_subscription: { subscriptionId: await firstOf('subscriptionId') },
    };
    for (const { tool } of operations) {
      const { status, text } = await restBody(world, tool, { ...inputs[tool] });
      assert.equal(status, 200);
      const name = tool.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
      for (const schema of [ofHeyApi[`z${name}Response`], ofOrval[`${name}Response`]]) {
        schema.parse(JSON.parse(text));
        assert.equal(schema.safeParse({}).success, false);
      }
    }
  });

  /** A field of the shop's newest subscription. */
  async function firstOf(field: string): Promise<number> {
    const { text } = await restBody(world, 'list_subscriptions', { limit: 1 });
    return JSON.parse(text).subscriptions[0][field];
  }
});
