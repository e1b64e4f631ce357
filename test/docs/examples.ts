import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Tokens, marked } from 'marked';
import { line, plan, subscription } from '../rest/records.ts';
import { oldestNode } from '../support/oldest-node.ts';

/** Code, and the name of the file that it is in; without one, it is an argument. */
interface Program {
  readonly language: string;
  readonly code: string;
  readonly file?: string | undefined;
}

/** A block of code on a page, and the answer or output that the page shows for it. */
export interface Example extends Program {
  readonly expected: { readonly language: string; readonly text: string } | undefined;
}

interface Language {
  readonly program: string;
  /** The arguments; the code or its file comes last. */
  readonly args: readonly string[];
  /** Whether the code can be run here: nothing else is a request, and not all libraries are installed. */
  isRunnable(code: string): boolean;
  /** The files in which readers may save the code; each has to work. */
  filesFor?(code: string): readonly string[];
}

export const languages: Readonly<Record<string, Language>> = {
  sh: { program: 'bash', args: ['-c'], isRunnable: (code) => code.startsWith('curl ') },
  js: {
    program: oldestNode(),
    args: [],
    // A source's secret; test/docs/push-example.test.ts runs it.
    isRunnable: (code) => !code.includes('RETENTION_SOURCE_SECRET'),
    // Code that is not named as a module is pasted into files of both kinds.
    filesFor: (code) => {
      const [, named] = /^\/\/ ([\w-]+\.mjs)\b/.exec(code) ?? [];
      return named === undefined ? ['example.cjs', 'example.mjs'] : [named];
    },
  },
  python: {
    program: 'python3',
    args: ['-c'],
    // The MCP library for Python; the page says that its example was not tried.
    isRunnable: (code) => !code.includes('import Client'),
  },
  ruby: { program: 'ruby', args: ['-e'], isRunnable: () => isInstalled('ruby') },
  php: {
    program: 'php',
    args: [],
    isRunnable: () => isInstalled('php'),
    filesFor: () => ['example.php'],
  },
  go: {
    program: 'go',
    args: ['run'],
    // It takes seconds to build: the first request of all stands for the others.
    isRunnable: (code) => code.includes('?status=active&') && isInstalled('go', 'version'),
    filesFor: () => ['example.go'],
  },
};

const installed = new Map<string, boolean>();
function isInstalled(program: string, option = '--version'): boolean {
  const known = installed.get(program) ?? spawnSync(program, [option]).status === 0;
  installed.set(program, known);
  return known;
}

const missing = ['bash', 'curl', 'python3'].filter(
  (program) => spawnSync(program, ['--version']).status !== 0,
);
/** Why examples cannot be run; false if they can. */
export const programsMissing: false | string =
  missing.length > 0 && `${missing.join(', ')} not available on this machine`;

if (programsMissing !== false && process.env['CI']) {
  throw new Error(`${programsMissing}, and in CI no test may be skipped.`);
}

/** The examples of a page, from its Markdown. */
export function examplesIn(markdown: string): Example[] {
  const tokens = marked.lexer(markdown).filter(({ type }) => type !== 'space');
  return tokens.flatMap((token, index): Example[] => {
    const { lang = '', text: code } = token as Tokens.Code;
    const language = languages[lang];
    if (token.type !== 'code' || !language?.isRunnable(code)) return [];
    // The output follows the same example in other languages.
    const after = tokens.slice(index).find((each) => {
      const next = each.type === 'code' ? (each as Tokens.Code).lang : undefined;
      return !(next !== undefined && next in languages);
    });
    const isOutput = after?.type === 'code' && ['json', 'text'].includes(after['lang']);
    const expected = isOutput ? { language: after['lang'], text: after['text'] } : undefined;
    const files = language.filesFor?.(code) ?? [undefined];
    return files.map((file) => ({ language: lang, code, file, expected }));
  });
}

export interface Ran {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs code as a reader would, in a folder that has the packages that it may import. */
export async function runExample(
  { language, code, file }: Program,
  key: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const { program, args } = languages[language] as Language;
  const folder = mkdtempSync(path.join(tmpdir(), 'retention-example-'));
  try {
    symlinkSync(path.join(import.meta.dirname, '../../node_modules'), `${folder}/node_modules`);
    if (file !== undefined) writeFileSync(path.join(folder, file), code);
    const { PATH = '' } = process.env;
    const child = spawn(program, [...args, file ?? code], {
      cwd: folder,
      env: { PATH, HOME: tmpdir(), RETENTION_API_KEY: key, NO_PROXY: '*', ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(child, 'close');
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [status] = (await closed) as [number | null];
    return { status, output, errors };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The shop of the examples. */
export const exampleShop = [
  plan({ id: 12, name: 'Coffee, every 2 months', intervalCount: 2 }),
  plan({ id: 16, name: 'Tea, every month' }),
  plan({ id: 17, name: 'Tea, every season', intervalCount: 3 }),
  subscription(3143, {
    customerId: 2352,
    planId: 17,
    status: 'cancelled',
    createdAt: '2026-07-14T09:30:00Z',
    statusEvents: [{ at: '2026-09-30T16:12:40Z', to: 'cancelled' }],
    paidThroughAt: '2026-10-14T09:30:00Z',
  }),
  subscription(3909, {
    customerId: 2352,
    planId: 12,
    createdAt: '2026-10-16T07:15:02.117Z',
    nextBillingDate: '2026-12-16T07:15:02.117Z',
    paidThroughAt: '2026-12-16T07:15:02.117Z',
    lines: [
      { ...line, lineId: 4217, quantity: 1, currentPrice: '18.53' },
      { ...line, lineId: 4218, quantity: 1, currentPrice: '16.15' },
      { ...line, lineId: 4219, quantity: 2, currentPrice: '33.25' },
    ],
  }),
  subscription(3999, {
    customerId: 3090,
    planId: 16,
    createdAt: '2026-10-17T18:02:44.310Z',
    nextBillingDate: '2026-12-17T18:02:44.310Z',
    lines: [{ ...line, quantity: 1, currentPrice: '15.50' }],
  }),
];
