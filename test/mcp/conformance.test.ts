import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openAnyStore, startWorld, type World } from '../support/world.ts';
import { mcpPath } from './wire.ts';

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** Why a scenario or a check does not apply to a server with its own read-only tools only. */
const noTool = 'it calls a tool that only the reference server has';
const noResources = 'there are no resources';
const noPrompts = 'there are no prompts';
const noCompletion = 'there is nothing to complete';
const noLogging = 'there is no stream to log to';
const noParamHeaders = 'no tool mirrors an argument in a header';

/** What the suite reports for the checks of each reason. */
const signs: Readonly<Record<string, RegExp>> = {
  [noTool]:
    /Unknown tool: test_|does not list the diagnostic tool|Tool '\w+' not found|JSON-RPC error instead|initial InputRequiredResult|Expected InputRequiredResult/,
  [noResources]: /Method not found|-32601|resources\/list failed|data\.uri is undefined/,
  [noPrompts]: /Method not found|-32601/,
  [noCompletion]: /Method not found/,
  [noLogging]: /Method not found/,
  [noParamHeaders]: /no tool with x-mcp-header/,
};

/** The applicable scenarios, with the checks in them that do not apply. */
const applying: Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>
> = {
  '2025-06-18': {
    'server-initialize': {},
    'server-session-lifecycle': {},
    ping: {},
    'tools-list': {},
  },
  '2026-07-28': {
    'server-stateless': {
      'sep-2575-server-rejects-undeclared-capability': noTool,
      'sep-2575-missing-capability-http-400': noTool,
      'sep-2575-http-server-no-independent-requests-on-stream': noTool,
      'sep-2575-server-no-log-without-loglevel': noTool,
    },
    'tools-list': {},
    'server-sse-multiple-streams': {},
    'dns-rebinding-protection': {},
    caching: {
      'sep-2549-prompts-list-caching-hints': noPrompts,
      'sep-2549-resources-list-caching-hints': noResources,
      'sep-2549-resources-templates-list-caching-hints': noResources,
    },
    'http-header-validation': {},
    'input-required-result-unsupported-methods': {},
    'input-required-result-validate-input': {},
  },
};

const inapplicable: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '2025-06-18': {
    'logging-set-level': noLogging,
    'tools-call-with-logging': noLogging,
    'tools-call-sampling': noTool,
    'tools-call-elicitation': noTool,
    'resources-subscribe': noResources,
    'resources-unsubscribe': noResources,
  },
  '2026-07-28': {
    'json-schema-2020-12': noTool,
    'sep-2164-resource-not-found': noResources,
    'http-custom-header-server-validation': noParamHeaders,
    'input-required-result-non-tool-request': noPrompts,
    'input-required-result-basic-elicitation': noTool,
    'input-required-result-basic-sampling': noTool,
    'input-required-result-basic-list-roots': noTool,
    'input-required-result-request-state': noTool,
    'input-required-result-multiple-input-requests': noTool,
    'input-required-result-multi-round': noTool,
    'input-required-result-missing-input-response': noTool,
    'input-required-result-result-type': noTool,
    'input-required-result-tampered-state': noTool,
    'input-required-result-capability-check': noTool,
    'input-required-result-ignore-extra-params': noTool,
  },
};

const inapplicableInBoth: Readonly<Record<string, string>> = {
  'completion-complete': noCompletion,
  'tools-call-simple-text': noTool,
  'tools-call-image': noTool,
  'tools-call-audio': noTool,
  'tools-call-embedded-resource': noTool,
  'tools-call-mixed-content': noTool,
  'tools-call-error': noTool,
  'tools-call-with-progress': noTool,
  'resources-list': noResources,
  'resources-read-text': noResources,
  'resources-read-binary': noResources,
  'resources-templates-read': noResources,
  'prompts-list': noPrompts,
  'prompts-get-simple': noPrompts,
  'prompts-get-with-args': noPrompts,
  'prompts-get-embedded-resource': noPrompts,
  'prompts-get-with-image': noPrompts,
};

/** Adds the key to the suite's requests, because it has no option for that. */
const keySender = new URL('./send-key.ts', import.meta.url).href;

/** Runs every scenario that the suite has for a revision. */
async function runSuite(
  url: string,
  key: string,
  revision: string,
): Promise<ReadonlyMap<string, Check[]>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-conformance-'));
  try {
    const options = ['--url', url, '--suite', 'all', '--spec-version', revision, '-o', folder];
    // It exits with 1 if any check fails; the results are in its files.
    const child = spawn(process.execPath, ['--import', keySender, suite, 'server', ...options], {
      stdio: 'ignore',
      env: { ...process.env, SUITE_KEY: key },
    });
    await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
    return new Map(
      readdirSync(folder).map((name) => {
        const scenario = name.match(/^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/)?.[1] ?? name;
        const file = path.join(folder, name, 'checks.json');
        return [scenario, JSON.parse(readFileSync(file, 'utf8')) as Check[]];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const isBad = ({ status }: Check) => status === 'FAILURE' || status === 'WARNING';

describe('the official conformance suite', () => {
  let world: World;

  before(async () => {
    world = await startWorld(openAnyStore());
  });
  after(() => world.close());

  for (const revision of ['2025-06-18', '2026-07-28']) {
    test(`passes for ${revision} where it applies`, async () => {
      const applies = applying[revision] ?? {};
      const reasons = { ...inapplicableInBoth, ...inapplicable[revision] };
      // Under the name that people use, which differs from the one that the service reports.
      const { port } = new URL(world.service.baseUrl);
      const url = `http://localhost:${port}${mcpPath}`;
      const ran = await runSuite(url, world.key, revision);
      assert.deepEqual(
        [...ran.keys()].toSorted(),
        [...Object.keys(applies), ...Object.keys(reasons)].toSorted(),
        'every scenario there is has its place in the tables',
      );

      for (const [scenario, exempt] of Object.entries(applies)) {
        const checks = ran.get(scenario) ?? [];
        const bad = checks.filter(isBad);
        assert.deepEqual(
          bad.map(({ id }) => id),
          Object.keys(exempt),
          `${scenario}: ${bad.map(({ errorMessage }) => errorMessage).join('; ')}`,
        );
        for (const { id, errorMessage = '' } of bad) {
          assert.match(errorMessage, signs[exempt[id] ?? ''] ?? /^$/, id);
        }
      }
      for (const [scenario, reason] of Object.entries(reasons)) {
        const bad = ran.get(scenario)?.filter(isBad) ?? [];
        assert.ok(bad.length > 0, `${scenario} passes: it belongs to those that apply`);
        for (const { id, errorMessage = '' } of bad) {
          assert.match(errorMessage, signs[reason] ?? /^$/, `${scenario} ${id}`);
        }
      }

      const wire = [...ran.values()].flat().filter(({ id }) => id.startsWith('wire-schema-'));
      assert.ok(wire.length >= 20);
      assert.deepEqual(
        [...new Set(wire.map(({ id, status }) => `${id} ${status}`))],
        ['wire-schema-valid SUCCESS'],
      );
    });
  }
});
