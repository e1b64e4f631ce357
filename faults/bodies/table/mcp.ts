import { type Body, bodiesOf } from '../body.ts';
import { type HttpRequest, sendHttp } from '../send.ts';
import { arrayOf, filled, mebibyte, nested } from '../texts.ts';

interface Message {
  readonly body: NonNullable<HttpRequest['body']>;
  readonly headers?: readonly string[];
}

/** A body may have 1 MiB; this is what surrounds the arguments. */
const frame = 200;
const room = mebibyte - frame;

const message = (body: Message['body']): Message => ({ body });
/** A call of a tool with these arguments, as JSON text. */
const call = (tool: string, args: string) =>
  message(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${args}}}`,
  );
const list = (args: string) => call('list_subscriptions', args);
/** Members of an object. */
const members = (part: string | ((index: number) => string), begin = '{') =>
  filled(room, part, { begin, end: '}', separator: ',' });
const with2026 = (version: string, method: string, rest: string): Message => ({
  headers: ['mcp-protocol-version', '2026-07-28', 'mcp-method', method, 'mcp-name', 'list_plans'],
  body: `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"${version}","io.modelcontextprotocol/clientCapabilities":{}},${rest}}}`,
});

/** Answered by a result, or an error of JSON-RPC. */
const ok = [200];

export const mcpBodies: readonly Body[] = bodiesOf<Message>(
  'MCP',
  async ({ baseUrl, key }, { body, headers = [] }) => {
    const ours = ['authorization', `Bearer ${key}`, 'content-type', 'application/json'];
    const request = { path: '/api/mcp', method: 'POST', headers: [...ours, ...headers] } as const;
    return (await sendHttp(baseUrl, { ...request, body })).status;
  },
  [
    ['a page of 100', ok, () => list('{"limit":100}')],
    ['thousands of plans', ok, () => call('list_plans', '{}')],
    [
      '80,000 unknown arguments',
      ok,
      () =>
        call(
          'list_plans',
          JSON.stringify(
            Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`a${index}`, 1])),
          ),
        ),
    ],
    ['as many unknown arguments as fit', ok, () => list(members((n) => `"${n.toString(36)}":1`))],
    ['as many nulls', ok, () => list(members((n) => `"${n.toString(36)}":null`, '{"limit":null,'))],
    ['numbered arguments', ok, () => list(members((n) => `"${n}":1`))],
    ['one argument as often as it fits', ok, () => list(members('"limit":1'))],
    ['escaped names', ok, () => list(members((n) => `"\\u0061${n}":1`))],
    ['a cursor of 1 MiB', ok, () => list(`{"cursor":"${'A'.repeat(room)}"}`)],
    ['a number of 1 MiB', ok, () => list(`{"limit":${'9'.repeat(room)}}`)],
    ['a fraction of 1 MiB', ok, () => list(`{"limit":0.${'1'.repeat(room)}}`)],
    ['an array of numbers', ok, () => list(`{"limit":${arrayOf(room, '1')}}`)],
    ['an array of 300,000 empty arrays', ok, () => list(`{"limit":${arrayOf(room, '[]')}}`)],
    ['an array of empty objects', ok, () => list(`{"status":${arrayOf(room, '{}')}}`)],
    ['nested arrays', ok, () => list(`{"limit":${nested(room, '[', ']')}}`)],
    ['nested objects', ok, () => list(`{"limit":${nested(room, '{"":', '}').replace('}', '0}')}}`)],
    ['a batch', ok, () => message(arrayOf(mebibyte, '{"jsonrpc":"2.0","id":1,"method":"ping"}'))],
    [
      'an id of 1 MiB',
      ok,
      () => message(`{"jsonrpc":"2.0","method":"ping","id":"${'a'.repeat(room)}"}`),
    ],
    [
      'a number of 1 MiB as id',
      ok,
      () => message(`{"jsonrpc":"2.0","method":"ping","id":${'9'.repeat(room)}}`),
    ],
    [
      'an exponent as id',
      ok,
      () =>
        message(`{"jsonrpc":"2.0","method":"ping","id":1${'0'.repeat(room)}e-${'9'.repeat(50)}}`),
    ],
    [
      'ids as many as fit',
      ok,
      () => message(members('"id":1', '{"jsonrpc":"2.0","method":"ping",')),
    ],
    [
      'escaped ids',
      ok,
      () => message(members('"\\u0069d":1', '{"jsonrpc":"2.0","method":"ping",')),
    ],
    ['members of the message', ok, () => message(members((n) => `"${n}":1`, '{"method":"ping",'))],
    [
      'a method of 1 MiB',
      ok,
      () => message(`{"jsonrpc":"2.0","id":1,"method":"${'a'.repeat(room)}"}`),
    ],
    ['a tool of 1 MiB', ok, () => call('a'.repeat(room), '{}')],
    ['a tool of 1 MiB of escapes', ok, () => call('\\u0061'.repeat(room / 6), '{}')],
    ['a version of 1 MiB', [400], () => with2026('a'.repeat(room - 200), 'tools/list', '"a":1')],
    [
      'unknown arguments in 2026-07-28',
      ok,
      () =>
        with2026(
          '2026-07-28',
          'tools/call',
          `"name":"list_plans","arguments":${filled(room - 300, (n) => `"${n.toString(36)}":1`, { begin: '{', end: '}', separator: ',' })}`,
        ),
    ],
    ['a response of 1 MiB', [202], () => message(`{"result":${arrayOf(room, '{}')}}`)],
    ['opening brackets', ok, () => message(nested(mebibyte, '['))],
    ['opening braces', ok, () => message(nested(mebibyte, '{"a":'))],
    ['arrays in arrays, without a message', ok, () => message(nested(mebibyte, '[', ']'))],
    [
      'an error at the end',
      ok,
      () => message(filled(mebibyte, '1', { begin: '[', separator: ',' })),
    ],
    ['spaces', ok, () => message(' '.repeat(mebibyte))],
    ['quotes', ok, () => message('"'.repeat(mebibyte))],
    ['backslashes', ok, () => message(`"${'\\'.repeat(mebibyte - 1)}`)],
    ['bytes that are not UTF-8', ok, () => message(Buffer.alloc(mebibyte, 0xff))],
    [
      'not UTF-8 at the end',
      ok,
      () => message(Buffer.from(`${'a'.repeat(mebibyte - 1)}\xff`, 'latin1')),
    ],
    ['characters of two bytes', ok, () => list(`{"cursor":"${'é'.repeat(room / 2)}"}`)],
    ['a byte too many', [413], () => message(' '.repeat(mebibyte + 1))],
    ['chunks of one byte', ok, () => message(Array<string>(100_000).fill(' '))],
  ],
);
