import type { z } from 'zod';
import { scopes } from '../access/scopes.ts';
import type { Operation } from '../operations/define.ts';
import { type InvokeParts, invoke } from '../operations/invoke.ts';
import type { Shop } from '../store/shops.ts';

/**
 * What the API answers about a shop: pages show its figures and rows, so that the two cannot differ.
 * @param input in JSON terms, as an agent would send it
 * @throws ServiceError invalid or notFound, as the API refuses
 */
export async function ask<Output extends z.ZodObject>(
  parts: InvokeParts,
  shop: Shop,
  operation: Operation<z.ZodObject, Output>,
  input: Readonly<Record<string, unknown>> = {},
): Promise<z.output<Output>> {
  const caller = { shopId: shop.id, currency: shop.currency, scopes };
  return JSON.parse(await invoke(operation, caller, input, parts));
}
