import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Classified, classify, type MirrorHeaders } from './classify.ts';
import { parseMessage } from './message.ts';

const versionKey = 'io.modelcontextprotocol/protocolVersion';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const modern = { [versionKey]: '2026-07-28', [capabilitiesKey]: {} };

/** An empty string stands for a missing header. */
type Headers = readonly [version?: string, method?: string, name?: string];

function summarise(classified: Classified): string {
  if (classified.kind === 'ignored') return 'ignored';
  const { kind, revision, id } = classified;
  const what = kind === 'rejected' ? classified.rejection : classified.method;
  return `${what} ${revision} ${id}`;
}

function outcomeOf(values: Headers, body: unknown): string {
  const [version, method, name] = values.map((value) => value || undefined);
  const headers: MirrorHeaders = { version, method, name };
  return summarise(classify(headers, messageOf(body)));
}

function messageOf(body: unknown) {
  return parseMessage(Buffer.from(JSON.stringify(body))) ?? assert.fail('not JSON');
}

const list = (_meta?: object) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/list',
  params: _meta && { _meta },
});
const call = (name: unknown) => ({
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name, _meta: modern },
});

test('serves, ignores or rejects a body before choosing a revision', () => {
  const cells: readonly (readonly [unknown, string])[] = [
    [null, 'invalidRequest 2025-06-18 null'],
    [[], 'invalidRequest 2025-06-18 null'],
    ['x', 'invalidRequest 2025-06-18 null'],
    [{}, 'invalidRequest 2025-06-18 null'],
    [{ result: {} }, 'ignored'],
    [{ error: {}, id: null }, 'ignored'],
    [{ result: {}, method: 5 }, 'invalidRequest 2025-06-18 null'],
    [{ jsonrpc: '2.0', method: 'x' }, 'ignored'],
    [{ jsonrpc: '2.0', method: 'x', id: null }, 'invalidRequest 2025-06-18 null'],
    [{ jsonrpc: '2.0', method: 'x', id: 0.5 }, 'invalidRequest 2025-06-18 null'],
    [{ jsonrpc: '2.0', method: 'x', id: 2 ** 53 }, 'x 2025-06-18 9007199254740992'],
    [{ jsonrpc: '2.0', method: 'x', id: '' }, 'x 2025-06-18 ""'],
    [{ jsonrpc: '2.0', method: 'x', id: 0 }, 'x 2025-06-18 0'],
    [{ jsonrpc: '2', method: 'x', id: 'a' }, 'invalidRequest 2025-06-18 "a"'],
    [{ jsonrpc: '2.0', method: null, id: 5 }, 'invalidRequest 2025-06-18 5'],
  ];
  for (const [body, expected] of cells) {
    assert.equal(outcomeOf([], body), expected, JSON.stringify(body));
    const in2026 = expected.replace('invalidRequest 2025-06-18', 'invalidRequest 2026-07-28');
    if (in2026 !== expected) assert.equal(outcomeOf(['2026-07-28'], body), in2026);
  }
});

test('chooses the revision by header and _meta', () => {
  const m = 'tools/list';
  const served2025 = 'tools/list 2025-06-18 7';
  const served2026 = 'tools/list 2026-07-28 7';
  const missing = 'metaMissing 2026-07-28 7';
  const mismatch = 'headerMismatch 2026-07-28 7';
  const unsupported = 'unsupportedVersion 2026-07-28 7';
  const cells: readonly (readonly [Headers, object | undefined, string])[] = [
    [[], undefined, served2025],
    [[], {}, served2025],
    [[], { progressToken: 1 }, served2025],
    [['2025-06-18'], undefined, served2025],
    [[], { [versionKey]: '2025-06-18' }, served2025],
    [['2025-06-18'], { [versionKey]: '2025-06-18', [capabilitiesKey]: {} }, served2025],
    [['2025-06-18'], { [versionKey]: null }, served2025],
    [['2025-06-18'], { [versionKey]: 20260728, [capabilitiesKey]: {} }, served2025],
    [['2026-07-28', m], modern, served2026],
    [['2026-07-28', m], undefined, missing],
    [['2026-07-28', m], { [versionKey]: '2026-07-28' }, missing],
    [[], { [capabilitiesKey]: {} }, missing],
    [[], { [versionKey]: 20260728 }, missing],
    [[], { [versionKey]: '2026-07-28', [capabilitiesKey]: [] }, missing],
    [[], modern, mismatch],
    [['2026-07-28'], modern, mismatch],
    [['2026-07-28', 'tools/call'], modern, mismatch],
    [['2025-06-18', m], modern, mismatch],
    [['2026-07-28', m], { ...modern, [versionKey]: 'v999' }, mismatch],
    [['2026-07-28', m], { ...modern, [versionKey]: '2025-06-18' }, mismatch],
    [['v999', m], { ...modern, [versionKey]: 'v999' }, unsupported],
    [['v999'], undefined, unsupported],
    [['v999'], { [capabilitiesKey]: {} }, unsupported],
    [['2025-11-25'], undefined, unsupported],
  ];
  for (const [headers, meta, expected] of cells) {
    assert.equal(outcomeOf(headers, list(meta)), expected, JSON.stringify([headers, meta]));
  }
  const initialize = { jsonrpc: '2.0', id: 7, method: 'initialize', params: {} };
  assert.equal(outcomeOf(['2025-11-25'], initialize), 'initialize 2025-06-18 7');
  assert.equal(outcomeOf(['2025-03-26'], initialize), unsupported);
});

test('reports the supported versions for an unsupported one', () => {
  const { rejection, data } = classify(
    { version: 'v999', method: undefined, name: undefined },
    messageOf(list()),
  ) as Extract<Classified, { kind: 'rejected' }>;
  assert.equal(rejection, 'unsupportedVersion');
  assert.deepEqual(data, { supported: ['2026-07-28', '2025-06-18'], requested: 'v999' });
});

test('repeats only the first 100 characters of a version', () => {
  const huge = `v${'9'.repeat(200_000)}`;
  const shown = `v${'9'.repeat(99)}`;
  const answerTo = (version: string, meta?: object) => {
    const headers = { version, method: 'tools/list', name: undefined };
    const { detail, data } = classify(headers, messageOf(list(meta))) as Extract<
      Classified,
      { kind: 'rejected' }
    >;
    return { detail, data };
  };
  const unsupported = {
    detail: undefined,
    data: { supported: ['2026-07-28', '2025-06-18'], requested: shown },
  };
  assert.deepEqual(answerTo(huge), unsupported);
  assert.deepEqual(answerTo(huge, { ...modern, [versionKey]: huge }), unsupported);
  assert.deepEqual(answerTo('2026-07-28', { ...modern, [versionKey]: huge }), {
    detail: `MCP-Protocol-Version must be ${shown}, as _meta says.`,
    data: undefined,
  });
});

test('compares Mcp-Name, plain or in base64, with the name of the called tool', () => {
  const ok = 'tools/call 2026-07-28 7';
  const mismatch = 'headerMismatch 2026-07-28 7';
  const cells: readonly (readonly [header: string, name: unknown, expected: string])[] = [
    ['list_plans', 'list_plans', ok],
    ['=?base64?bGlzdF9wbGFucw==?=', 'list_plans', ok],
    ['=?base64?44GC?=', 'あ', ok],
    ['=?base64??=', '', ok],
    ['=?base64?open', '=?base64?open', ok],
    ['=?base64?=', '=?base64?=', ok],
    ['', 'list_plans', mismatch],
    ['', undefined, mismatch],
    ['undefined', undefined, mismatch],
    ['5', 5, mismatch],
    ['list_plan', 'list_plans', mismatch],
    ['=?base64?bGlzdF9wbGFucw?=', 'list_plans', mismatch],
    ['=?base64?bGlzdF9wbGFucx==?=', 'list_plans', mismatch],
    ['=?base64?/w==?=', '\ufffd', mismatch],
    ['=?base64?_w==?=', '\ufffd', mismatch],
    ['é', 'é', mismatch],
  ];
  for (const [header, name, expected] of cells) {
    assert.equal(outcomeOf(['2026-07-28', 'tools/call', header], call(name)), expected, header);
  }
});
