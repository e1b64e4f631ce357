import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Retention, RetentionError } from '../../clients/typescript/src/index.ts';
import { python, pythonEnv, pythonFolder, pythonMissing } from './python.ts';

interface Options {
  readonly baseUrl: string;
  readonly key: string;
  readonly timeoutSeconds?: number;
  readonly deadlineSeconds?: number;
  readonly maxRetries?: number;
  readonly graceSeconds?: number;
}

/** A method of the TypeScript client, with its arguments, the last of them by name. */
export type Call = readonly [
  method: string,
  given: readonly unknown[],
  named: Readonly<Record<string, unknown>>,
];

export interface Answer {
  readonly value?: unknown;
  /** The class of what was thrown; only errors of the client are answers. */
  readonly error?: string;
  readonly status?: number | null;
  readonly message?: string;
}

/** A client that is told what to ask, one call at a time. */
interface Asker {
  ask(...call: Call): Promise<Answer>;
  close(): void;
}

/** The clients, which should all do the same. */
export const clients: readonly {
  readonly name: string;
  readonly missing: false | string;
  open(options: Options): Asker;
}[] = [
  { name: 'the TypeScript client', missing: false, open: openTypeScript },
  {
    name: 'the Python client',
    missing: pythonMissing,
    open: (options) => new PythonAsker('sync', options),
  },
  {
    name: 'the Python client for asyncio',
    missing: pythonMissing,
    open: (options) => new PythonAsker('async', options),
  },
];

function openTypeScript(options: Options): Asker {
  const { timeoutSeconds = 10, deadlineSeconds = Infinity, graceSeconds = 0, ...rest } = options;
  const limits = { timeoutMs: timeoutSeconds * 1000, deadlineMs: deadlineSeconds * 1000 };
  const client = new Retention({ ...rest, ...limits, cache: { graceSeconds } });
  const methods = client as unknown as Record<string, (...args: unknown[]) => unknown>;
  return {
    async ask(method, given, named) {
      try {
        const answer = methods[method]?.(...given, named);
        const isList = typeof answer === 'object' && answer !== null && 'pages' in answer;
        const value = isList
          ? await Array.fromAsync(answer as unknown as AsyncIterable<unknown>)
          : await answer;
        return { value };
      } catch (error) {
        if (!(error instanceof RetentionError)) throw error;
        return { error: error.name, status: error.status ?? null, message: error.message };
      }
    },
    close() {},
  };
}

class PythonAsker implements Asker {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(kind: 'sync' | 'async', options: Options) {
    this.#child = spawn(python, ['-m', 'tests.live', kind], {
      cwd: pythonFolder,
      env: pythonEnv,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = this.#child;
    if (!stdout) throw new Error('The output of Python is missing.');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    const { baseUrl, key, timeoutSeconds = 10, maxRetries = 3, graceSeconds = 0 } = options;
    this.#write({
      base_url: baseUrl,
      key,
      timeout_seconds: timeoutSeconds,
      // More than any test takes.
      deadline_seconds: options.deadlineSeconds ?? 3600,
      max_retries: maxRetries,
      cache: { grace_seconds: graceSeconds },
    });
  }

  async ask(...call: Call): Promise<Answer> {
    this.#write(call);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('Python ended.');
    return JSON.parse(value);
  }

  close(): void {
    this.#child.stdin?.end();
  }

  #write(line: unknown): void {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
  }
}

/** Runs a program to its end, and returns what it printed. */
export async function outputOf(child: ChildProcess): Promise<string> {
  const printed = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => (printed[stream] += text));
  }
  const [status] = await once(child, 'close');
  if (status !== 0) throw new Error(`The program ended with ${status}: ${printed.stderr}`);
  return printed.stdout;
}
