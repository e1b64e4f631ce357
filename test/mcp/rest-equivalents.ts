import type { Clock } from '../../src/clock.ts';
import { generateShop } from '../../src/demo/generate.ts';
import { type Imported, importAll, now, type World } from '../support/world.ts';

/** Imports generated demo data into the world's shop. */
export function importGenerated(
  world: World,
  subscriptions: number,
  seed: number,
): Promise<Imported> {
  const { currency, minorDigits } = world.shop;
  const endAt = Date.parse(now);
  const records = generateShop({ subscriptions, seed, endAt, currency, minorDigits });
  return importAll(world.store, world.shop, [...records]);
}

/** The path and query of a tool's REST endpoint, relative to the base path. */
export function restPath(tool: string, input: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams(
    Object.entries(input).map(([name, value]) => [name, textOf(value)]),
  );
  switch (tool) {
    case 'get_entitlements':
      return `/entitlements?${query}`;
    case 'list_subscriptions':
      return `/subscriptions?${query}`;
    case 'get_subscription':
      return `/subscriptions/${encodeURIComponent(textOf(input['subscriptionId']))}`;
    case 'get_metrics_summary':
      return '/metrics/summary';
    case 'list_plans':
      return '/plans';
    case 'list_cancellations':
      return `/cancellations?${query}`;
    default:
      throw new Error(`${tool} mirrors nothing`);
  }
}

/** REST accepts digits only, where JavaScript would write 1e+300. */
function textOf(value: unknown): string {
  return Number.isInteger(value) ? String(BigInt(value as number)) : String(value);
}

/** The raw body of that request. */
export async function restBody(
  world: World<Clock>,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Promise<{ status: number; text: string }> {
  const response = await fetch(world.base + restPath(tool, input), {
    headers: { authorization: `Bearer ${world.key}` },
  });
  return { status: response.status, text: await response.text() };
}
