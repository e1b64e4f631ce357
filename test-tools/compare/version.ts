import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/postgres.ts';

/** The public address of both versions, so that links and examples are the same. */
export const publicUrl = 'https://retention.test';

/** When questions are asked: the time that the records of the tests are about. */
export const askedAt = '2026-11-20T12:00:00.000Z';

const settings = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('clock.ts', import.meta.url))}`,
  BASE_URL: publicUrl,
  LOG_LEVEL: 'error',
  UPLOAD_DIR: 'uploads',
  SYNC: 'off',
  CREDENTIALS_KEY: Buffer.alloc(32, 7).toString('base64'),
  // Nothing listens at port 9: both are refused at once.
  SMTP_URL: 'smtp://127.0.0.1:9',
  SHOPIFY_CLIENT_ID: 'client',
  SHOPIFY_CLIENT_SECRET: 'the-secret-of-the-app',
  SHOPIFY_BASE_URL: 'http://127.0.0.1:9/{domain}',
};

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  /** The time that the process sees. */
  readonly at?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Server {
  readonly port: number;
  /** Lets a second pass. */
  tick(): void;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** A checkout with a database and a folder of its own; the same settings for every version. */
export class Version {
  readonly name: string;
  readonly checkout: string;
  /** Where its processes run: for relative paths, and without a developer's .env. */
  readonly folder: string;
  readonly databaseUrl: string;

  constructor(name: string, checkout: string, folder: string, databaseUrl: string) {
    this.name = name;
    this.checkout = checkout;
    this.folder = folder;
    this.databaseUrl = databaseUrl;
    mkdirSync(folder, { recursive: true });
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const { child, ended } = this.#spawn(args, options);
    child.stdin.on('error', () => {
      // It exited without reading all of its input.
    });
    child.stdin.end(options.input ?? '');
    const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, out, err };
  }

  /** Runs a command that must succeed, and returns the JSON that it prints. */
  async result<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
    const { code, out, err } = await this.run([...args, '--json'], options);
    if (code !== 0 && code !== 3) throw new Error(`retention ${args.join(' ')}: ${code}\n${err}`);
    return JSON.parse(out) as T;
  }

  async serve(options: RunOptions = {}): Promise<Server> {
    const port = await freePort();
    const env = { ...options.env, PORT: String(port) };
    const { child, ended } = this.#spawn(['serve'], { ...options, env });
    await new Promise<void>((resolve, reject) => {
      let said = '';
      const hear = (part: Buffer) => {
        said += String(part);
        if (said.includes('listens on')) resolve();
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      void ended.then(() => reject(new Error(`The ${this.name} version does not serve:\n${said}`)));
    });
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    return { port, tick: () => void child.kill('SIGUSR2'), stop };
  }

  /** A text without what tells the two versions apart: folders, database and commit. */
  neutral(said: string): string {
    return said
      .replaceAll(new URL(this.databaseUrl).pathname, '/DATABASE')
      .replaceAll(this.folder, 'FOLDER')
      .replaceAll(this.checkout, 'CHECKOUT')
      .replace(/(?<=^retention \S+ )\((?:[0-9a-f]{40}|unknown)\)/m, '(COMMIT)');
  }

  #spawn(args: readonly string[], { at = askedAt, env = {} }: RunOptions) {
    const child = spawn(path.join(this.checkout, 'bin', 'retention'), args, {
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'],
        TMPDIR: process.env['TMPDIR'],
        ...settings,
        COMPARE_NOW: at,
        DATABASE_URL: this.databaseUrl,
        ...env,
      },
    });
    running.add(child);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        running.delete(child);
        resolve(code);
      });
    });
    return { child, ended };
  }
}
