import { may } from '../../accounts/rights.ts';
import type { Operation } from '../../operations/define.ts';
import { operations } from '../../operations/index.ts';
import { type JsonSchema, toJsonSchema } from '../../operations/json-schema.ts';
import { listSubscriptions } from '../../operations/list-subscriptions.ts';
import { restV1 } from '../../operations/versions.ts';
import type { Scope } from '../../vocabulary.ts';
import { ask } from '../ask.ts';
import type { OwnerParts, ShopVisit } from '../pages.ts';

/** The parameters of an operation as text, by their names in its input. */
export type Texts = Readonly<Record<string, string>>;

export interface Parameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

const parametersByTool = new Map(
  operations.map(({ tool, input }) => {
    const { properties = {}, required = [] } = toJsonSchema(input, 'input');
    const parameters = Object.entries(properties).map(([name, schema]): Parameter => ({
      name,
      schema,
      isRequired: required.includes(name),
    }));
    return [tool, parameters];
  }),
);

export function parametersOf({ tool }: Operation): readonly Parameter[] {
  return parametersByTool.get(tool) ?? [];
}

/** The operations whose answers a member may see, whatever the key may. */
export function operationsFor({ shop }: Pick<ShopVisit, 'shop'>): readonly Operation[] {
  return operations.filter(({ scope }) => scope !== 'read:metrics' || may(shop.role, 'figures'));
}

/** The first operation that a key with these scopes may ask; the first of all if there is none. */
export function firstOperation(
  scopes: readonly Scope[],
  among: readonly Operation[] = operations,
): Operation {
  const first = among.find(({ scope }) => scope === scopes[0]) ?? among[0];
  return first as Operation;
}

/** Example values that exist in the shop, of an active subscription if it has any. Without, the ids are unknown ones. */
export async function sampleTexts(parts: OwnerParts, { shop }: ShopVisit): Promise<Texts> {
  const list = async (status?: 'active') =>
    (await ask(parts, shop, listSubscriptions, { limit: 1, status })).subscriptions[0];
  const newest = (await list('active')) ?? (await list());
  return {
    customerId: String(newest?.customerId ?? 1),
    subscriptionId: String(newest?.subscriptionId ?? 1),
    limit: '5',
  };
}

/** Only those of an operation's parameters that have a value. */
export function textsFor(operation: Operation, texts: Texts): Texts {
  const given = parametersOf(operation)
    .map(({ name }): [string, string] => [name, texts[name] ?? ''])
    .filter(([, text]) => text !== '');
  return Object.fromEntries(given);
}

export function restBase(baseUrl: string): string {
  return baseUrl + restV1.basePath;
}

/** The address of a request over REST. */
export function requestUrl(
  baseUrl: string,
  { path, pathParameter }: Operation,
  texts: Texts,
): string {
  const inPath = pathParameter && (texts[pathParameter.input] ?? '');
  const filled = path.replace(/\{\w+\}/, encodeURIComponent(inPath ?? ''));
  const rest = Object.entries(texts).filter(([name]) => name !== pathParameter?.input);
  const query = new URLSearchParams(rest).toString();
  return `${restBase(baseUrl)}${filled}${query && `?${query}`}`;
}
