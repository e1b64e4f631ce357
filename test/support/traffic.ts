import assert from 'node:assert/strict';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { mcpPath, modernHeaders, modernRequest } from '../mcp/wire.ts';

export interface Target {
  readonly name: string;
  readonly baseUrl: string;
  /** `down` after it was killed, `leaving` once it has closed a connection; neither gets requests. */
  state: 'up' | 'leaving' | 'down';
}

/** A request with its only correct response. */
interface Question {
  readonly path: string;
  readonly tool: string;
  readonly input: object;
}

const questions: readonly Question[] = [
  { path: '/entitlements?customerId=501', tool: 'get_entitlements', input: { customerId: 501 } },
  { path: '/subscriptions?limit=5', tool: 'list_subscriptions', input: { limit: 5 } },
  { path: '/metrics/summary', tool: 'get_metrics_summary', input: {} },
  { path: '/plans', tool: 'list_plans', input: {} },
  { path: '/cancellations?limit=5', tool: 'list_cancellations', input: { limit: 5 } },
];

const failure = '{"success":false,"message":"Internal server error."}';

/** The result of a request: the right response, a 429, or a reported failure (500), which says when to try again. */
type Ending = 'right' | 'limited' | 'failed';

export interface Outcome {
  readonly begin: number;
  readonly milliseconds: number;
  readonly ending: Ending;
  readonly target: Target;
  readonly key: string;
}

export interface Traffic {
  readonly outcomes: readonly Outcome[];
  /** Errors that no client may see: wrong responses and lost requests. */
  readonly wrong: readonly string[];
  /** The start times of requests that wait for their response. */
  readonly waiting: ReadonlyMap<object, number>;
  /**
   * Sends one more request, in addition to the clients.
   * @returns its result; undefined if the response was wrong or lost
   */
  send(target: Target, tool: string): Promise<Ending | undefined>;
  end(): Promise<void>;
}

/** Many clients with many keys, on both transports, constantly sending requests to targets that are up. */
export async function startTraffic(
  targets: readonly Target[],
  keys: readonly string[],
  clients: number,
  maxPauseMilliseconds = 4,
): Promise<Traffic> {
  const waiting = new Map<object, number>();
  const outcomes: Outcome[] = [];
  const wrong: string[] = [];
  const over = new AbortController();
  const agents = new Map(targets.map((target) => [target, new Agent({ keepAlive: true })]));

  async function send(target: Target, key: string, question: number, isMcp: boolean) {
    const { path, tool, input } = questions[question] as Question;
    const url = target.baseUrl + (isMcp ? mcpPath : `/api/external/v1${path}`);
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    if (isMcp) {
      Object.assign(headers, {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      });
      for (const each of modernHeaders('tools/call', tool)) {
        const [name = '', value = ''] = each.split(': ');
        headers[name] = value;
      }
    }
    const [response, text] = await new Promise<[IncomingMessage, string]>((resolve, reject) => {
      const method = isMcp ? 'POST' : 'GET';
      const sent = request(url, { agent: agents.get(target), method, headers }, (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
        answer.once('end', () => resolve([answer, body]));
        answer.once('error', reject);
      });
      sent.once('error', reject);
      const call = modernRequest('tools/call', { name: tool, arguments: input });
      sent.end(isMcp ? JSON.stringify(call) : undefined);
    });
    if (response.headers.connection === 'close' && target.state === 'up') target.state = 'leaving';
    // The instant differs; the data is too old for the windows to matter.
    const answer = text.replace(/generatedAt\\?":\\?"[^"]+"/g, '');
    const canRetry = Number(response.headers['retry-after']) > 0;
    return { status: response.statusCode, text: answer, canRetry };
  }

  const expected = new Map<string, string>();
  for (const key of keys) {
    for (const [question] of questions.entries()) {
      for (const isMcp of [false, true]) {
        const { status, text } = await send(targets[0] as Target, key, question, isMcp);
        assert.equal(status, 200, text);
        expected.set(`${key} ${question} ${isMcp}`, text);
      }
    }
  }

  async function sendAndCheck(target: Target, key: string, question: number, isMcp: boolean) {
    const begin = performance.now();
    const pending = {};
    waiting.set(pending, begin);
    const note = (ending: Ending) => {
      outcomes.push({ begin, milliseconds: performance.now() - begin, ending, target, key });
      return ending;
    };
    try {
      const { status, text, canRetry } = await send(target, key, question, isMcp);
      const isRight = text === expected.get(`${key} ${question} ${isMcp}`);
      if (status === 200 && isRight) return note('right');
      if (status === 429) return note('limited');
      if (status === 500 && text === failure && canRetry) return note('failed');
      wrong.push(`${target.name}: ${status} ${text}`);
    } catch (error) {
      // Requests of a killed process are lost; its state changes before the client notices.
      if (target.state !== 'down') wrong.push(`${target.name}: ${String(error)}`);
    } finally {
      waiting.delete(pending);
    }
    return undefined;
  }

  async function client(number: number): Promise<void> {
    for (let turn = number; !over.signal.aborted; turn += 1) {
      const up = targets.filter(({ state }) => state === 'up');
      const target = up[turn % up.length];
      if (!target) {
        await sleep(10);
        continue;
      }
      const key = keys[(number + turn) % keys.length] as string;
      await sendAndCheck(target, key, turn % questions.length, turn % 3 === 0);
      await sleep(Math.random() * maxPauseMilliseconds);
    }
  }
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return {
    outcomes,
    wrong,
    waiting,
    send(target, tool) {
      const question = questions.findIndex((each) => each.tool === tool);
      return sendAndCheck(target, keys[0] as string, question, false);
    },
    async end() {
      over.abort();
      await running;
      for (const agent of agents.values()) agent.destroy();
    },
  };
}
