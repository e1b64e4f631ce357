import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StandIn {
  readonly url: string;
  close(): void;
}

/**
 * Takes the place of a model behind Anthropic's Messages API, so that a client can be tried without an account: asks
 * for one call of a tool, and is content with its result.
 */
export async function startStandInModel(tool: string): Promise<StandIn> {
  const server = createServer((request, response) => void answer(request, response, tool));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function answer(request: IncomingMessage, response: ServerResponse, tool: string) {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  if (!request.url?.startsWith('/v1/messages')) {
    response.writeHead(404).end('{}');
    return;
  }
  const isAnswered = body.includes('"tool_result"');
  const [block, delta] = isAnswered
    ? [
        { type: 'text', text: '' },
        { type: 'text_delta', text: 'Done.' },
      ]
    : [
        { type: 'tool_use', id: 'toolu_1', name: tool, input: {} },
        { type: 'input_json_delta', partial_json: '{}' },
      ];
  const usage = { input_tokens: 1, output_tokens: 1 };
  const events = [
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: isAnswered ? 'end_turn' : 'tool_use' }, usage },
    { type: 'message_stop' },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const lines = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end(lines.join(''));
}
