import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
export const retention = fileURLToPath(new URL('bin/retention', root));

export interface ServerProcess extends AsyncDisposable {
  readonly pid: number;
  readonly port: number;
}

/** Runs one `retention` command to its end and returns its standard output. */
export function run(args: readonly string[], env: Record<string, string>): string {
  return execFileSync(retention, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** @returns the file with the records of a generated shop */
export function writeDemoRecords(folder: string, subscriptions: number): string {
  const file = path.join(folder, `${subscriptions}.ndjson`);
  const out = openSync(file, 'w');
  execFileSync(retention, ['demo-data', '--subscriptions', String(subscriptions)], {
    stdio: ['ignore', out, 'inherit'],
  });
  closeSync(out);
  return file;
}

/** Imports the records of a generated shop, streamed from one process into another. */
export function importDemoShop(
  shopId: number,
  subscriptions: number,
  env: Record<string, string>,
): void {
  const pipeline = `"${retention}" demo-data --subscriptions ${subscriptions} | "${retention}" import --shop ${shopId} -`;
  execFileSync('sh', ['-c', pipeline], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** Imports a file into a shop until disposed of, or to its end. */
export function startImport(
  shopId: number,
  file: string,
  env: Record<string, string>,
): AsyncDisposable & { readonly hasEnded: () => boolean } {
  const child = spawn(retention, ['import', '--shop', String(shopId), file], {
    env: { ...process.env, ...env },
    // In a session of its own, as in a terminal or a container: Linux shares time among sessions first.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const hasEnded = () => child.exitCode !== null;
  const ended = once(child, 'exit');
  return {
    hasEnded,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** @param args of `serve` */
export function startService(
  env: Record<string, string>,
  args: readonly string[],
): Promise<ServerProcess> {
  return start(retention, ['serve', ...args], { ...env, PORT: '0' });
}

/** Serves the embedded database in this folder. */
export function startDemo(folder: string): Promise<ServerProcess> {
  return start(retention, ['demo'], { RETENTION_DATA_DIR: folder, LOG_LEVEL: 'info', PORT: '0' });
}

/** @param answer what it answers to every request, without the headers of a connection */
export function startConstant(answer: {
  readonly body: string;
  readonly headers: Headers;
}): Promise<ServerProcess> {
  const headers = Object.fromEntries(answer.headers);
  for (const name of ['date', 'connection', 'keep-alive']) delete headers[name];
  return start(process.execPath, [fileURLToPath(new URL('bench/constant-server.ts', root))], {
    BODY: answer.body,
    HEADERS: JSON.stringify(headers),
  });
}

async function start(
  program: string,
  args: string[],
  env: Record<string, string>,
): Promise<ServerProcess> {
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const port = await portOf(child);
  return {
    pid: child.pid as number,
    port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      const port = /listens on http:\/\/[^:]+:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.once('exit', (code) =>
      reject(new Error(`A server exited with status ${code} before it listened.`)),
    );
  });
}
