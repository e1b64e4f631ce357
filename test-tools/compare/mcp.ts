import { type Filled, type FilledShop, scopes } from './fill.ts';
import type { Both, Report } from './report.ts';
import { bearer, idsOf } from './rest.ts';
import { publicUrl } from './version.ts';
import { type Visitor, whole } from './visitor.ts';

const modern = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const methods = 'initialize ping server/discover tools/list prompts/list nothing'.split(' ');

const wrongArguments: readonly unknown[] = [
  { unknown: 1 },
  [],
  'text',
  null,
  ...[0, -1, 1.5, '1', null, true, 2 ** 53, 1e300].flatMap((value) =>
    ['limit', 'customerId', 'subscriptionId'].map((name) => ({ [name]: value })),
  ),
  ...['', 'x', 1, null].flatMap((value) =>
    ['cursor', 'status', 'outcome'].map((name) => ({ [name]: value })),
  ),
];

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
/** Bodies that are no requests, or not of this protocol. */
const wrongBodies = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  `[${ping},${ping}]`,
  ping.replace('2.0', '1.0'),
  ping.replace('1,', 'null,'),
  ping.replace('1,', '1.5,'),
  ping.replace('1,', '"a",'),
  ping.replace('"ping"', '1'),
  ping.replace('}', ',"params":[]}'),
  ping.replace('"method":"ping"', '"result":{}'),
  '{"jsonrpc":"2.0","method":"notifications/initialized"}',
];
const wrongHeaders: readonly Headers[] = [
  { origin: 'https://elsewhere.test' },
  { origin: publicUrl },
  { 'content-encoding': 'gzip' },
  { 'content-type': 'text/plain' },
  { 'mcp-protocol-version': '2024-11-05' },
  { 'mcp-protocol-version': modern },
  { 'mcp-protocol-version': modern, 'mcp-method': 'tools/list' },
  { 'mcp-session-id': 'x' },
  { authorization: '' },
];

type Headers = Readonly<Record<string, string>>;

/** The tools with good and bad arguments in both revisions, and what is refused. */
export async function compareMcp(
  visitors: Both<Visitor>,
  report: Report,
  filled: Filled,
): Promise<void> {
  const send = async (asked: string, body: string, headers: Headers, method = 'POST') => {
    const length = String(Buffer.byteLength(body));
    const all = { 'content-type': 'application/json', 'content-length': length, ...headers };
    const ask = (visitor: Visitor) => visitor.send('/api/mcp', { method, body, headers: all });
    const question = { kind: 'mcp', pattern: asked.split(' ', 1)[0] ?? '', asked } as const;
    return (await report.ask(question, visitors, ask, whole)).body.toString();
  };
  /** Sends a request in both revisions, and returns the answer in the older one. */
  const request = async (
    method: string,
    params: Record<string, unknown>,
    headers: Headers,
    remark = '',
  ) => {
    const asked = `${method} ${JSON.stringify(params)} ${remark}`;
    const { name } = params;
    const mirrors = {
      'mcp-protocol-version': modern,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    };
    const message = { jsonrpc: '2.0', id: 1, method };
    const newer = JSON.stringify({ ...message, params: { ...params, _meta: meta } });
    await send(`${asked} ${modern}`, newer, { ...headers, ...mirrors });
    return send(`${asked} 2025-06-18`, JSON.stringify({ ...message, params }), headers);
  };
  const keyOf = ({ id }: FilledShop) => bearer(filled.keys.get(id));
  const key = keyOf(filled.shops[0] as FilledShop);

  for (const method of methods) await request(method, {}, key);
  await request('tools/list', { cursor: 'x' }, key);
  const list = JSON.parse(await request('tools/list', {}, key)) as {
    result: { tools: { name: string }[] };
  };
  const tools = list.result.tools.map(({ name }) => name);
  for (const shop of filled.shops) {
    const { customers, subscriptions } = idsOf(shop);
    const good = [
      {},
      { limit: 3 },
      { limit: 100, status: 'active' },
      { limit: 100, outcome: 'saved' },
      ...customers.slice(-8).map((customerId) => ({ customerId })),
      ...subscriptions.slice(-8).map((subscriptionId) => ({ subscriptionId })),
    ];
    for (const name of shop.isLimited ? [] : tools) {
      for (const each of good) {
        await request('tools/call', { name, arguments: each }, keyOf(shop), shop.name);
      }
    }
    await request('ping', {}, keyOf(shop), shop.name);
  }
  for (const name of tools) {
    for (const each of wrongArguments) await request('tools/call', { name, arguments: each }, key);
    for (const scope of scopes) {
      const other = bearer(filled.otherKeys[scope]);
      await request('tools/call', { name, arguments: {} }, other, scope);
    }
  }
  for (const name of ['nothing', '', 1, null]) await request('tools/call', { name }, key);
  for (const [name, other] of Object.entries(filled.otherKeys)) {
    await request('tools/list', {}, bearer(other), name);
  }
  for (const body of wrongBodies) await send(`body ${body}`, body, key);
  for (const each of wrongHeaders)
    await send(`headers ${JSON.stringify(each)}`, ping, { ...key, ...each });
  for (const method of ['GET', 'DELETE', 'PUT']) await send(`${method} /api/mcp`, '', key, method);
}
