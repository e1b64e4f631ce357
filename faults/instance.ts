import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/postgres.ts';
import type { Target } from '../test/support/traffic.ts';

export const retention = fileURLToPath(new URL('../bin/retention', import.meta.url));

type Settings = Readonly<Record<string, string>>;

/** Only these variables, so that the developer's own settings have no effect. */
export function environmentOf(settings: Settings): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], ...settings };
}

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** A `serve` process on a port that it keeps across restarts. */
export class Instance implements Target {
  readonly name: string;
  readonly baseUrl: string;
  state: Target['state'] = 'down';
  /** Exit statuses and signals, except when the drill ended it. */
  readonly deaths: string[] = [];
  /** How often it was started. */
  starts = 0;
  readonly #folder: string;
  #settings: Settings;
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve('');
  #isMeantToEnd = false;

  private constructor(name: string, port: number, folder: string, settings: Settings) {
    this.name = name;
    this.baseUrl = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#settings = { ...settings, PORT: String(port) };
  }

  /** @param folder for its log, without a developer's .env */
  static async start(name: string, folder: string, settings: Settings): Promise<Instance> {
    const instance = new Instance(name, await freePort(), folder, settings);
    await instance.start();
    return instance;
  }

  /** Of the running process; 0 if there is none. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** @param settings that change from this start on */
  async start(settings: Settings = {}): Promise<void> {
    this.#settings = { ...this.#settings, ...settings };
    const log = openSync(path.join(this.#folder, `${this.name}.log`), 'a');
    const child = spawn(retention, ['serve'], {
      cwd: this.#folder,
      env: environmentOf(this.#settings),
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    this.#child = child;
    running.add(child);
    this.#isMeantToEnd = false;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        const how = signal ?? `status ${code}`;
        if (!this.#isMeantToEnd) this.deaths.push(`instance ${this.name} ended with ${how}`);
        this.state = 'down';
        running.delete(child);
        resolve(how);
      });
      // Spawning failed, so no exit event follows.
      child.once('error', ({ message }) => resolve(message));
    });
    await new Promise<void>((resolve, reject) => {
      let output = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('listens on')) resolve();
      });
      void this.#ended.then((how) => reject(new Error(`It ended with ${how} while starting.`)));
    });
    this.starts += 1;
    this.state = 'up';
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    this.#isMeantToEnd = true;
    this.state = 'down';
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  /**
   * Sends SIGTERM. The drill's clients only learn of it from its responses.
   * @returns its exit status or signal
   */
  stop(): Promise<string> {
    this.#isMeantToEnd = true;
    this.#child?.kill('SIGTERM');
    return this.#ended;
  }

  /** The body of its readiness response. */
  async readiness(): Promise<string> {
    const response = await fetch(`${this.baseUrl}/readyz`, { headers: { connection: 'close' } });
    return response.text();
  }
}
