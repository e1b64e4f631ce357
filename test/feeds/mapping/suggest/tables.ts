/** Tables of customers in shapes of others' choice, each with the figures that a plain sum over its rows gives. */

export interface Table {
  readonly name: string;
  readonly content: Buffer;
  readonly figures: Figures;
}

interface Figures {
  /** Subscriptions by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly mrr: number;
}

type Cell = string | number;

/** A row of a table, and what it means. */
interface Row {
  readonly cells: readonly Cell[];
  readonly status: 'active' | 'paused' | 'cancelled' | 'expired';
  readonly cents: number;
  /** Of the billing interval; a divisor of 12, or 12. */
  readonly months?: number;
}

/** Park and Miller's generator, so that every run has the same tables. */
export function createRandom(seed: number) {
  let state = seed;
  const below = (limit: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
  return {
    below,
    oneOf: <T>(choices: readonly T[]): T => choices[below(choices.length)] as T,
    /** A day of 2021 to 2025, as [year, month, day]. */
    day: () => [2021 + below(5), 1 + below(12), 1 + below(28)] as const,
  };
}

type Random = ReturnType<typeof createRandom>;

export const statusOf = (isGone: boolean) => (isGone ? 'cancelled' : 'active');
export const two = (number: number) => String(number).padStart(2, '0');
/** 1234567 as "12345.67", with other marks if they are given. */
export function money(cents: number, decimal = '.', thousands = ''): string {
  const whole = String(Math.floor(cents / 100)).replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
  return `${whole}${decimal}${two(cents % 100)}`;
}

function plainFigures(rows: readonly Row[]): Figures {
  const statuses: Record<string, number> = {};
  let twelfths = 0;
  for (const { status, cents, months = 1 } of rows) {
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === 'active') twelfths += (cents * 12) / months;
  }
  return { statuses, mrr: Math.round(twelfths / 12) / 100 };
}

interface Format {
  readonly delimiter?: string;
  readonly quoteAll?: boolean;
  readonly end?: string;
  readonly encode?: (text: string) => Buffer;
}

export function table(
  name: string,
  columns: string,
  count: number,
  row: (random: Random, index: number) => Row,
  { delimiter = ',', quoteAll = false, end = '\n', encode = Buffer.from }: Format = {},
): Table {
  const random = createRandom(name.length * 1000 + count);
  const rows = Array.from({ length: count }, (_, index) => row(random, index));
  const quoted = (cell: Cell) => {
    const text = String(cell);
    const needsQuotes = quoteAll || text.includes(delimiter) || text.includes('"');
    return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map(({ cells }) => cells.map(quoted).join(delimiter));
  const head = columns.split('|').map(quoted).join(delimiter);
  const content = encode([head, ...lines, ''].join(end));
  return { name, content, figures: plainFigures(rows) };
}

export const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
/** Windows-1252, for texts whose only character beyond Latin-1 is the euro sign. */
export function windows(text: string): Buffer {
  return Buffer.from(text.replaceAll('€', '\u0080'), 'latin1');
}
