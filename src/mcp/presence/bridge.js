/*
 * The program in the bundle: takes messages from a host that starts local programs, one a line, sends them to
 * the service with the key, and writes the answers. It runs in the host's Node.js, so it is plain JavaScript.
 */
import { createInterface } from 'node:readline';

const { RETENTION_URL = '', RETENTION_API_KEY = '' } = process.env;
const timeoutMilliseconds = 60_000;
const versionKey = 'io.modelcontextprotocol/protocolVersion';

const address = addressOf(RETENTION_URL);
process.stdout.on('error', () => process.exit());
createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  if (line.trim() !== '') void forward(line);
});

function addressOf(url) {
  const isLocal = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/i.test(url);
  if (!isLocal && !/^https:\/\/[^/]/i.test(url)) {
    // Anyone on the way could read the key.
    process.stderr.write('The address of the service must begin with https://\n');
    process.exit(1);
  }
  return `${url.replace(/\/+$/, '')}/api/mcp`;
}

async function forward(line) {
  const message = parse(line);
  // Notifications need no answer, and each would count against the key's limit.
  if (typeof message?.method === 'string' && message.id === undefined) return;
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${RETENTION_API_KEY}`,
        'content-type': 'application/json',
        ...mirrorHeaders(message),
      },
      body: line,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMilliseconds),
    });
    const text = await response.text();
    const answer = parse(text);
    if (answer?.jsonrpc === '2.0') process.stdout.write(`${text}\n`);
    else if (response.status !== 202) refuse(message, describe(response, answer));
  } catch (error) {
    const { code, message: reason } = error.cause ?? error;
    refuse(message, `The service at ${RETENTION_URL} cannot be reached: ${code ?? reason}`);
  }
}

/** 2026-07-28 wants parts of the message in headers too. */
function mirrorHeaders(message) {
  const { method, params } = message ?? {};
  const { _meta: meta, name: tool } = params ?? {};
  const version = meta?.[versionKey];
  if (typeof version !== 'string') return {};
  const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': tool };
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([, value]) => typeof value === 'string')
      .map(([name, value]) => [name, encode(value)]),
  );
}

function encode(value) {
  return /^[\x21-\x7e]+$/.test(value)
    ? value
    : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

function describe({ status }, answer) {
  if (status === 401)
    return 'The key is not valid. Enter another one in the settings of the extension.';
  return typeof answer?.message === 'string'
    ? answer.message
    : `The address answered ${status}, and not as this service would.`;
}

/** Answers instead of the service. */
function refuse(message, text) {
  const id = message?.id ?? null;
  const error = { code: -32000, message: text };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
