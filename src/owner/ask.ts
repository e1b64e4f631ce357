import type { z } from 'zod';
import type { Operation } from '../operations/define.ts';
import { type InvokeParts, invoke } from '../operations/invoke.ts';
import type { Shop } from '../store/shops.ts';
import { scopes } from '../vocabulary.ts';

/**
 * Calls an operation for a shop. Pages use it to show the same figures and rows as the API.
 * @param input JSON values, as an API caller would send them
 * @throws ServiceError invalid or notFound, as for API callers
 */
export async function ask<Output extends z.ZodObject>(
  parts: InvokeParts,
  shop: Shop,
  operation: Operation<z.ZodObject, Output>,
  input: Readonly<Record<string, unknown>> = {},
): Promise<z.output<Output>> {
  const caller = { shopId: shop.id, currency: shop.currency, scopes };
  return JSON.parse((await invoke(operation, caller, input, parts)).text);
}
