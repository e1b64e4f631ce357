import type { Requirement } from './requirements.ts';

/** The contract's requirements for MCP, by heading. */
const sections: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'What the service does': {
    'mcp.service.shared': 'Both front ends share keys, scopes, plan gate and rate limiter.',
    'mcp.service.one-tool-each': 'One read-only tool per REST endpoint.',
  },
  'MCP endpoint': {
    'mcp.endpoint.post':
      'POST {base_url}/api/mcp with Authorization: Bearer and Content-Type: application/json.',
    'mcp.endpoint.one-message': 'One JSON-RPC message is one request.',
    'mcp.endpoint.405': 'GET and DELETE return 405 with header Allow: POST.',
    'mcp.endpoint.no-sessions': 'There are no sessions and no server-to-client stream.',
    'mcp.endpoint.session-headers': 'Mcp-Session-Id and Last-Event-ID are never read.',
    'mcp.endpoint.json': 'Every response with a body is application/json.',
    'mcp.endpoint.batch': 'A JSON-RPC batch (array body) is rejected with -32600.',
  },
  Tools: {
    'mcp.tools.permitted': 'tools/list returns only tools whose scope the key holds.',
    'mcp.tools.order': 'The order of tools is fixed.',
    'mcp.tools.indistinguishable':
      'A tool whose scope is not granted is indistinguishable from a nonexistent one.',
    'mcp.tools.six': 'A key with all scopes lists six tools.',
    'mcp.tools.get_entitlements': 'read:entitlements; GET /entitlements; customer id.',
    'mcp.tools.list_subscriptions':
      'read:subscriptions; GET /subscriptions; limit, cursor, status.',
    'mcp.tools.get_subscription':
      'read:subscriptions; GET /subscriptions/{id}; numeric subscription id.',
    'mcp.tools.get_metrics_summary': 'read:metrics; GET /metrics/summary; no arguments.',
    'mcp.tools.list_plans': 'read:plans; GET /plans; no arguments.',
    'mcp.tools.list_cancellations': 'read:metrics; GET /cancellations; limit, cursor, outcome.',
    'mcp.tools.arguments': 'Arguments mirror the REST query parameters.',
    'mcp.tools.entry':
      'Each tool has name, title, description and inputSchema (additionalProperties false, properties, required).',
    'mcp.tools.list-plans-schema': 'list_plans has empty properties and empty required.',
    'mcp.tools.call': 'tools/call: { jsonrpc, id, method, params: { name, arguments } }.',
    'mcp.tools.payload-twice':
      'The payload is carried twice: as the text block and as structuredContent.',
    'mcp.tools.payload-shape': 'The payload shape is that of the mirrored REST endpoint.',
  },
  'Methods by revision': {
    'mcp.methods.initialize': 'initialize: yes in 2025-06-18.',
    'mcp.methods.initialize-2026': 'initialize does not exist in 2026-07-28: -32601 at 404.',
    'mcp.methods.initialized': 'notifications/initialized: yes in 2025-06-18.',
    'mcp.methods.ping': 'ping: yes in 2025-06-18.',
    'mcp.methods.ping-2026': 'ping does not exist in 2026-07-28: -32601 at 404.',
    'mcp.methods.discover': 'server/discover works in either revision.',
    'mcp.methods.discover-versions':
      'server/discover reports supported versions newest first: 2026-07-28, then 2025-06-18.',
    'mcp.methods.tools-list': 'tools/list: yes in both.',
    'mcp.methods.tools-call': 'tools/call: yes in both.',
  },
  'Revision selection': {
    'mcp.revision.per-request': 'The revision is chosen per request, never per connection.',
    'mcp.revision.undeclared':
      'A request that declares no version, in _meta or header, is served as 2025-06-18.',
    'mcp.revision.explicit': 'A client that asks explicitly for 2025-06-18 stays on it.',
  },
  '2026-07-28 request framing': {
    'mcp.framing.meta':
      'params._meta must contain protocolVersion (string) and clientCapabilities (object).',
    'mcp.framing.meta-missing': 'A missing one gives -32602 at HTTP 400.',
    'mcp.framing.headers':
      'MCP-Protocol-Version equals the declared version; Mcp-Method equals the method.',
    'mcp.framing.name': 'On tools/call, Mcp-Name equals params.name.',
    'mcp.framing.mismatch': 'A missing or disagreeing header gives -32020 at HTTP 400.',
    'mcp.framing.unsupported':
      'A declared version the server does not implement gives -32022 at HTTP 400, with the supported versions in error.data.',
    'mcp.framing.results':
      'Results carry resultType "complete" and _meta with io.modelcontextprotocol/serverInfo.',
    'mcp.framing.cache-hints':
      'tools/list and server/discover results also carry ttlMs and cacheScope.',
    'mcp.framing.permission': 'Permission is checked on every tools/call.',
  },
  Authentication: {
    'mcp.auth.bearer': 'Every request carries Authorization: Bearer <API_KEY>.',
    'mcp.auth.same-401': 'Any bad key gives 401 with the same body whatever the cause.',
    'mcp.auth.tier': 'On Free or Starter requests are refused with 403.',
    'mcp.auth.envelope':
      'Authentication, plan and rate-limit failures are HTTP 401, 403, 429 with the REST envelope, never JSON-RPC errors.',
  },
  'MCP errors': {
    'mcp.errors.parse': 'Malformed JSON body: -32700 Parse error, HTTP 200.',
    'mcp.errors.array': 'Array body: -32600 Invalid Request.',
    'mcp.errors.notification': 'Notification: HTTP 202, empty body, ignored.',
    'mcp.errors.bad-limit': 'Out-of-range limit: a tool result with isError and a plain text.',
    'mcp.errors.bad-status': 'Unknown status: a tool result with isError and a plain text.',
    'mcp.errors.foreign-id':
      'Id not belonging to the shop: a tool result with isError and a plain text.',
    'mcp.errors.meta': '2026-07-28, missing _meta field: -32602, HTTP 400.',
    'mcp.errors.header': '2026-07-28, header missing or disagreeing: -32020, HTTP 400.',
    'mcp.errors.version':
      '2026-07-28, unimplemented version: -32022, HTTP 400, supported versions in error.data.',
    'mcp.errors.initialize-ping': '2026-07-28, initialize or ping: -32601, HTTP 404.',
    'mcp.errors.2025-at-200':
      '2025-06-18, any JSON-RPC error: always HTTP 200 with a JSON-RPC error body.',
    'mcp.errors.unknown-tool': 'Unknown or unpermitted tool: Unknown tool: <name>.',
  },
  Errors: {
    'mcp.errors.500': '500: server-side failure, in the envelope; safe to retry later.',
  },
  Limits: {
    'mcp.limits.shared': 'The limit is shared by REST and MCP.',
    'mcp.limits.one-message': 'One JSON-RPC message counts as one request.',
    'mcp.limits.429': 'Over the limit: 429 with Retry-After (seconds).',
    'mcp.limits.page-size': 'limit is an integer from 1 to 100, default 50.',
    'mcp.limits.cursor': "cursor: opaque, from the previous response's nextCursor.",
    'mcp.limits.next-cursor': 'nextCursor: string when more rows remain; null on the last page.',
    'mcp.limits.invalid': 'Invalid limit or cursor: isError tool result.',
  },
  Versioning: {
    'mcp.versions.side-by-side': '2026-07-28 and 2025-06-18 are served side by side.',
  },
};

export const mcpRequirements: readonly Requirement[] = Object.entries(sections).flatMap(
  ([section, texts]) => Object.entries(texts).map(([id, text]) => ({ id, section, text })),
);
