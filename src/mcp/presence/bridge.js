/*
 * The program in the bundle: takes messages from a host that starts local programs, one a line, sends them to
 * the service with the key, and writes the answers. It runs in the host's Node.js, so it is plain JavaScript.
 */
import { createInterface } from 'node:readline';

const { RETENTION_URL = '', RETENTION_API_KEY = '' } = process.env;
const timeoutMilliseconds = 60_000;
const versionKey = 'io.modelcontextprotocol/protocolVersion';

const address = addressOf(RETENTION_URL);
/** With any other character, the header's error would repeat the key. */
const isKey = /^rtn_[\w-]+$/.test(RETENTION_API_KEY);
const wrongKey = 'The key is not valid. Enter another one in the settings of the extension.';
process.stdout.on('error', () => process.exit());
createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  if (line.trim() !== '') void forward(line);
});

function addressOf(url) {
  const isLocal = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/i.test(url);
  // Anyone on the way could read the key.
  if (!isLocal && !/^https:\/\/[^/]/i.test(url)) stop('must begin with https://');
  // Errors repeat the address.
  if (/[@?#\s]/.test(url)) stop('must not have a user name, a password, a query or a space');
  return `${url.replace(/\/+$/, '')}/api/mcp`;
}

function stop(reason) {
  process.stderr.write(`The address of the service ${reason}\n`);
  process.exit(1);
}

async function forward(line) {
  const message = parse(line);
  // Notifications need no answer, and each would count against the key's limit.
  if (typeof message?.method === 'string' && message.id === undefined) return;
  if (!isKey) return refuse(message, wrongKey);
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
    if (answer?.jsonrpc === '2.0') write(text);
    else if (response.status !== 202) refuse(message, describe(response, answer));
  } catch (error) {
    const { code, message: reason } = error.cause ?? error;
    const why = typeof code === 'string' ? code : reason;
    refuse(message, `The service at ${RETENTION_URL} cannot be reached: ${why}`);
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
  if (status === 401) return wrongKey;
  return typeof answer?.message === 'string'
    ? answer.message
    : `The address answered ${status}, and not as this service would.`;
}

/** Answers instead of the service. */
function refuse(message, text) {
  const id = message?.id ?? null;
  const error = { code: -32000, message: text };
  write(JSON.stringify({ jsonrpc: '2.0', id, error }));
}

/** Agents read this, and must not read the key, whatever it comes from. */
function write(text) {
  process.stdout.write(`${isKey ? text.replaceAll(RETENTION_API_KEY, 'rtn_…') : text}\n`);
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
