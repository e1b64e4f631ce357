import { z } from 'zod';
import { CommandError } from '../../errors.ts';
import { isObject } from '../../json.ts';
import { joinProblems, parseWith } from '../../records/problems.ts';
import * as values from '../../records/values.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { findCustomerKey, replaceCustomerKey } from '../../store/records/customer-keys.ts';
import { findValuesSince, hasCustomers, setValuesSince } from '../../store/records/export-pages.ts';
import { lockForWriting } from '../../store/records/writing.ts';
import { findWriter } from '../../store/shop-copy.ts';
import type { Shop } from '../../store/shops.ts';
import type { ImportShop } from '../apply.ts';
import type { LineSource } from '../import.ts';

const version = 1;

const shopHeader = z.object({
  type: z.literal('shop'),
  version: z.literal(version),
  id: values.id,
  name: z.string(),
  currency: z.string(),
  createdAt: values.time,
  exportedAt: values.time,
  /** Changes with each transaction that changes the shop. */
  state: z.string().optional(),
  /** From when on it is known what subscriptions were worth. */
  valuesSince: values.time.optional(),
  /** By which e-mail addresses became ids. */
  customerKey: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});

/** The first line of an export of a shop: what the import needs to know beside the records. */
export type ShopHeader = z.input<typeof shopHeader>;

export async function headerOf(
  sql: Sql | Transaction,
  { id, name, currency, createdAt }: Shop,
  exportedAt: Date,
): Promise<ShopHeader> {
  return {
    type: 'shop',
    version,
    id,
    name,
    currency,
    createdAt: createdAt.toISOString(),
    exportedAt: exportedAt.toISOString(),
    state: (await findWriter(sql, id)) ?? undefined,
    valuesSince: (await findValuesSince(sql, id))?.toISOString(),
    customerKey: await findCustomerKey(sql, id),
  };
}

interface Into {
  readonly sql: Sql;
  readonly shop: ImportShop;
}

/**
 * Looks whether sources of records are the export of a shop, whose header then counts for the shop.
 * @returns the sources without it
 * @throws CommandError if its records cannot become records of the shop
 */
export async function openExport(
  sources: Iterable<LineSource>,
  into: Into,
): Promise<{ readonly sources: Iterable<LineSource>; readonly isExport: boolean }> {
  const [first, ...others] = sources;
  if (!first) return { sources: [], isExport: false };
  const { name } = first;
  const chunks = first.lines[Symbol.asyncIterator]();
  const { value: lines = [] } = await chunks.next();
  const header = readHeader(name, lines[0]?.text);
  if (header && others.length > 0) {
    throw new CommandError(`${name} is the export of a shop. Import it without other files.`);
  }
  if (header) await accept(header, name, into);
  async function* rest() {
    try {
      yield header ? lines.slice(1) : lines;
      yield* { [Symbol.asyncIterator]: () => chunks };
    } finally {
      await chunks.return?.();
    }
  }
  return { sources: [{ name, lines: rest() }, ...others], isExport: header !== undefined };
}

function readHeader(name: string, text = '') {
  if (!/^\{\s*"type"\s*:\s*"shop"/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // A line that is no JSON is refused with the others.
  }
  if (!isObject(value)) return undefined;
  if (Number(value['version']) > version) {
    throw new CommandError(
      `${name} is an export of a newer version of this service. Update this one first.`,
    );
  }
  const parsed = parseWith(shopHeader, value);
  if ('data' in parsed) return parsed.data;
  throw new CommandError(`${name}:1: ${joinProblems(parsed.problems)}.`);
}

/** Prepares a shop for the records of an export. */
async function accept(
  { currency, customerKey, valuesSince }: z.output<typeof shopHeader>,
  name: string,
  { sql, shop }: Into,
): Promise<void> {
  if (currency !== shop.currency) {
    throw new CommandError(
      `${name} is the export of a shop with ${currency}, but shop ${shop.id} has ${shop.currency}. Import it into a shop with ${currency}.`,
    );
  }
  await sql.begin(async (tx) => {
    await lockForWriting(tx, shop.id);
    if (!(await hasCustomers(tx, shop.id))) {
      if (customerKey) await replaceCustomerKey(tx, shop.id, customerKey);
      if (valuesSince !== undefined) await setValuesSince(tx, shop.id, valuesSince);
    } else if (customerKey && customerKey !== (await findCustomerKey(tx, shop.id))) {
      throw new CommandError(
        `Shop ${shop.id} has customers already, and another key for their e-mail addresses than ${name}, so that one customer would count as two. Import it into a new shop.`,
      );
    }
  });
}
