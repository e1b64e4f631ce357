import { version } from '../version.ts';
import type { Caller } from '../access/gate.ts';
import { type InvokeParts, clipName } from '../operations/invoke.ts';
import { type Revision, supportedVersions } from './classify.ts';
import { isObject } from '../json.ts';
import { callTool, findTool, listTools } from './tools.ts';

export const serverInfo = {
  name: 'retention-data-service',
  title: 'Retention Data Service',
  version,
} as const;

const capabilities = { tools: {} } as const;

/** Explains to a model how the tools fit together. */
const instructions = [
  "Read-only data of one shop's subscriptions: who is entitled, which subscriptions and selling plans there are, how retention is doing, and how cancel-flow sessions ended.",
  'Start with get_metrics_summary for an overview and with get_entitlements for one customer.',
  'Lists come newest first, a page at a time: begin with a small limit, and pass nextCursor on as cursor, with the same filter, only if more is needed.',
  'Money is in the currency that get_metrics_summary names; times are UTC. Nothing can be changed.',
].join(' ');

/** The members of the result to the end of the message, as JSON text, or why the parameters are invalid. */
type MethodResult = { readonly rest: string | Buffer } | { readonly invalidParams: string };

interface MethodContext extends InvokeParts {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, unknown>>;
}

type Method = (context: MethodContext) => MethodResult | Promise<MethodResult>;

/** How long clients may cache the result, in milliseconds; every call is checked regardless. */
const discoverTtl = 3_600_000;
/** Short, because the key's scopes decide which tools are listed. */
const listTtl = 300_000;

const discover: Method = () => ({
  rest: restOf({
    supportedVersions,
    capabilities,
    instructions,
    ttlMs: discoverTtl,
    cacheScope: 'public',
  }),
});

/** @param hints members that only 2026-07-28 has */
const list =
  (hints = ''): Method =>
  ({ caller, params: { cursor } }) =>
    // All tools fit on one page, so no valid cursor exists.
    cursor === undefined || cursor === null
      ? { rest: `"tools":${listTools(caller)}${hints}}}` }
      : { invalidParams: 'Invalid params: cursor is not valid; there is only one page of tools.' };

const call: Method = (context) => {
  const { name, arguments: input = {} } = context.params;
  if (typeof name !== 'string') return { invalidParams: 'Invalid params: name must be a string.' };
  if (!isObject(input)) return { invalidParams: 'Invalid params: arguments must be an object.' };
  const tool = findTool(name, context.caller);
  if (!tool) return { invalidParams: `Unknown tool: ${clipName(name)}` };
  return callTool(tool, context.caller, input, context);
};

/** The methods of each revision; any other is unknown in it. */
export const methods: Readonly<Record<Revision, ReadonlyMap<string, Method>>> = {
  '2025-06-18': new Map<string, Method>([
    // Whatever version was requested: a client that does not support this one disconnects.
    [
      'initialize',
      () => ({
        rest: restOf({
          protocolVersion: '2025-06-18',
          capabilities,
          serverInfo,
          instructions,
        }),
      }),
    ],
    ['ping', () => ({ rest: '}}' })],
    ['server/discover', discover],
    ['tools/list', list()],
    ['tools/call', call],
  ]),
  '2026-07-28': new Map<string, Method>([
    ['server/discover', discover],
    ['tools/list', list(`,"ttlMs":${listTtl},"cacheScope":"private"`)],
    ['tools/call', call],
  ]),
};

/** The JSON text of a result after its opening brace, and the closing brace of its message. */
function restOf(value: object): string {
  return `${JSON.stringify(value).slice(1)}}`;
}

const modernMembers = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
};

/** What each revision begins its results with. */
export const beginnings: Readonly<Record<Revision, string>> = {
  '2025-06-18': '{',
  '2026-07-28': `${JSON.stringify(modernMembers).slice(0, -1)},`,
};
