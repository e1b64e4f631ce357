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
export async function ask(
  parts: InvokeParts,
  shop: Shop,
  operation: Operation,
  input: Readonly<Record<string, unknown>> = {},
): Promise<z.infer<Operation['output']>> {
  const caller = {
    shopId: shop.id,
    tier: shop.tier,
    currency: shop.currency,
    scopes,
    // Owners hold no key; what the gate asks of one is not asked here.
    keyId: 'owner',
    lastUsedAt: 0,
    expiresAt: null,
  };
  return JSON.parse(await invoke(operation, caller, input, parts));
}
