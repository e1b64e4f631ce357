import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { type Tokens, marked } from 'marked';
import path from 'node:path';
import { line, plan, subscription } from '../rest/records.ts';

/** A block of code on a page, and the answer or output that the page shows for it. */
export interface Example {
  readonly language: string;
  readonly code: string;
  readonly expected: { readonly language: string; readonly text: string } | undefined;
}

interface Language {
  readonly program: string;
  /** The arguments; the code comes last. */
  readonly args: readonly string[];
  /** Whether the code can be run here: nothing else is a request, and not all libraries are installed. */
  isRunnable(code: string): boolean;
}

export const languages: Readonly<Record<string, Language>> = {
  sh: { program: 'bash', args: ['-c'], isRunnable: (code) => code.startsWith('curl ') },
  ts: {
    program: process.execPath,
    args: ['--input-type=module-typescript', '--no-warnings', '--eval'],
    isRunnable: () => true,
  },
  python: {
    program: 'python3',
    args: ['-c'],
    // The MCP library for Python; the page says that its example was not tried.
    isRunnable: (code) => !code.includes('import Client'),
  },
};

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
    if (token.type !== 'code' || !languages[lang]?.isRunnable(code)) return [];
    // The output follows the same example in other languages.
    const after = tokens.slice(index).find((each) => {
      const language = each.type === 'code' ? (each as Tokens.Code).lang : undefined;
      return !(language !== undefined && language in languages);
    });
    const isOutput = after?.type === 'code' && ['json', 'text'].includes(after['lang']);
    const expected = isOutput ? { language: after['lang'], text: after['text'] } : undefined;
    return [{ language: lang, code, expected }];
  });
}

export interface Ran {
  readonly status: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs code as a reader would, in the root of the project, where its packages are found. */
export async function runExample(language: string, code: string, key: string): Promise<Ran> {
  const { program, args } = languages[language] as Language;
  const { PATH = '' } = process.env;
  const child = spawn(program, [...args, code], {
    cwd: path.join(import.meta.dirname, '../..'),
    env: { PATH, RETENTION_API_KEY: key, NO_PROXY: '*' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = (await closed) as [number | null];
  return { status, output, errors };
}

/** The shop of the examples. */
export const exampleShop = [
  plan({ id: 12, name: 'Coffee every 4 weeks', intervalUnit: 'week', intervalCount: 4 }),
  plan({ id: 15, name: 'Tasting club', planType: 'membership' }),
  subscription(2968, {
    customerId: 18204,
    planId: 15,
    status: 'cancelled',
    createdAt: '2026-02-14T09:30:00Z',
    statusEvents: [{ at: '2026-09-30T16:12:40Z', to: 'cancelled' }],
    paidThroughAt: '2026-10-14T09:30:00Z',
  }),
  subscription(4071, {
    customerId: 18204,
    planId: 12,
    createdAt: '2026-10-16T07:15:02.117Z',
    nextBillingDate: '2026-12-11T07:15:02.117Z',
    paidThroughAt: '2026-12-11T07:15:02.117Z',
    lines: [
      { ...line, lineId: 6120, quantity: 2, currentPrice: '16.20' },
      { ...line, lineId: 6121, quantity: 4, currentPrice: '2.70' },
    ],
  }),
  subscription(4093, {
    customerId: 18377,
    planId: 15,
    createdAt: '2026-10-17T18:02:44.310Z',
    nextBillingDate: '2026-12-17T18:02:44.310Z',
    lines: [{ ...line, quantity: 1, currentPrice: '9.50' }],
  }),
];
