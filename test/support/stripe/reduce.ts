/*
 * Writes document.json and fixtures.json, which the stand-in executes, from what Stripe publishes:
 * node_modules/.bin/node test/support/stripe/reduce.ts FOLDER_OF_THE_PACKAGE_STRIPE FIXTURES3_JSON
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Schema, StripeDocument } from './document.ts';
import {
  type Declaration,
  type Declarations,
  type TypeNode,
  readDeclarations,
} from './declarations.ts';

/** The resources that are described, by the file that declares them. What else they name is left out. */
const resources: Readonly<Record<string, readonly string[]>> = {
  Accounts: ['Account'],
  BalanceTransactions: ['BalanceTransaction'],
  Charges: ['Charge'],
  Coupons: ['Coupon'],
  CreditNotes: ['CreditNote'],
  CreditNoteLineItems: ['CreditNoteLineItem'],
  Customers: ['Customer', 'DeletedCustomer'],
  Discounts: ['Discount', 'DeletedDiscount'],
  Disputes: ['Dispute'],
  Events: ['Event', 'EventBase'],
  InvoiceLineItems: ['InvoiceLineItem'],
  InvoicePayments: ['InvoicePayment'],
  Invoices: ['Invoice', 'DeletedInvoice'],
  PaymentIntents: ['PaymentIntent'],
  Plans: ['Plan', 'DeletedPlan'],
  Prices: ['Price', 'DeletedPrice'],
  Products: ['Product', 'DeletedProduct'],
  PromotionCodes: ['PromotionCode'],
  Refunds: ['Refund'],
  SubscriptionItems: ['SubscriptionItem'],
  Subscriptions: ['Subscription'],
  TaxRates: ['TaxRate'],
};

/** Large, and not read here: their form is not described. */
const undescribed = new Set([
  'Account.Capabilities',
  'Account.Company',
  'Account.Controller',
  'Account.Requirements',
  'Account.FutureRequirements',
  'Account.Settings',
  'Charge.PaymentMethodDetails',
  'Dispute.Evidence',
  'Dispute.PaymentMethodDetails',
  'Invoice.PaymentSettings.PaymentMethodOptions',
  'PaymentIntent.NextAction',
  'PaymentIntent.PaymentMethodOptions',
  'Refund.DestinationDetails',
  'Subscription.PaymentSettings.PaymentMethodOptions',
]);

/** Not in answers unless they are expanded; the declarations do not tell these from what may be absent. */
const includable: Readonly<Record<string, readonly string[]>> = {
  charge: ['refunds'],
  coupon: ['applies_to', 'currency_options'],
  customer: ['cash_balance', 'sources', 'subscriptions', 'tax', 'tax_ids'],
  invoice: ['confirmation_secret', 'payments'],
  plan: ['tiers'],
  price: ['currency_options', 'tiers'],
  'Price.CurrencyOptions': ['tiers'],
};

const paths: readonly (readonly [
  path: string,
  method: string,
  parameters: string,
  answer: string,
])[] = [
  ['/v1/account', 'retrieveCurrent', 'AccountRetrieveCurrentParams', 'Account'],
  ...(
    [
      ['charges', 'Charge'],
      ['coupons', 'Coupon'],
      ['credit_notes', 'CreditNote'],
      ['customers', 'Customer'],
      ['disputes', 'Dispute'],
      ['events', 'Event'],
      ['invoice_payments', 'InvoicePayment'],
      ['invoices', 'Invoice'],
      ['payment_intents', 'PaymentIntent'],
      ['prices', 'Price'],
      ['products', 'Product'],
      ['refunds', 'Refund'],
      ['subscription_items', 'SubscriptionItem'],
      ['subscriptions', 'Subscription'],
    ] as const
  ).flatMap(
    ([name, type]) =>
      [
        [`/v1/${name}`, 'list', `${type}ListParams`, type],
        [`/v1/${name}/{id}`, 'retrieve', `${type}RetrieveParams`, type],
      ] as const,
  ),
];

const [folder, fixturesFile] = process.argv.slice(2);
if (!folder || !fixturesFile)
  throw new Error('Name the folder of the package, and fixtures3.json.');
const source = path.join(folder, 'esm', 'resources');

const read = new Map<string, Declarations>();
function declarationsOf(file: string): Declarations {
  const known = read.get(file) ?? readDeclarations(readFileSync(file, 'utf8'));
  read.set(file, known);
  return known;
}

const fileOf = new Map(
  Object.entries(resources).flatMap(([file, names]) =>
    names.map((name) => [name, path.join(source, `${file}.d.ts`)] as const),
  ),
);
const schemas: Record<string, Schema> = {};
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const leftOut = (name: string): Schema => ({ type: 'object', 'x-leftOut': name });

/** The schema of a declaration, described once under its own name. */
function described(file: string, name: string): Schema {
  if (undescribed.has(name)) return leftOut(name);
  const declaration = declarationsOf(file).types.get(name);
  if (!declaration) throw new Error(`${file} has no ${name}.`);
  if (declaration.type.kind !== 'object') return schemaOf(declaration.type, file, name);
  const own = name === 'EventBase' ? 'event' : (resourceOf(declaration, name) ?? name);
  if (!(own in schemas)) {
    schemas[own] = {};
    schemas[own] = objectOf(declaration, file, name, own);
  }
  return ref(own);
}

/** What a resource says that it is. */
function resourceOf({ type }: Declaration, name: string): string | undefined {
  const object = type.kind === 'object' && type.members.find((each) => each.name === 'object');
  if (!object || object.type.kind !== 'literal') return undefined;
  return `${name.startsWith('Deleted') ? 'deleted_' : ''}${object.type.value}`;
}

function objectOf(declaration: Declaration, file: string, scope: string, own?: string): Schema {
  if (declaration.type.kind !== 'object') throw new Error(`${scope} is no object.`);
  const { members, rest } = declaration.type;
  const inherited = declaration.extends.map((name) => {
    const [from, at] = locate(name, file, scope);
    const parent = declarationsOf(from).types.get(at);
    if (!parent) throw new Error(`${from} has no ${at}.`);
    return objectOf(parent, from, at);
  });
  const present = members.filter(
    ({ type }) => !(type.kind === 'name' && (type.name === 'void' || type.name === 'never')),
  );
  return {
    type: 'object',
    properties: Object.assign(
      {},
      ...inherited.map(({ properties }) => properties),
      Object.fromEntries(present.map(({ name, type }) => [name, schemaOf(type, file, scope)])),
    ),
    required: present.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    ...(rest && { additionalProperties: schemaOf(rest, file, scope) }),
    ...(own !== undefined && own in includable && { 'x-includable': includable[own] as string[] }),
  };
}

/** Where a name that is used in a scope of a file is declared. */
function locate(name: string, file: string, scope: string): readonly [file: string, name: string] {
  const { types, imports } = declarationsOf(file);
  for (
    let outer = scope;
    outer !== '';
    outer = outer.slice(0, Math.max(0, outer.lastIndexOf('.')))
  ) {
    if (types.has(`${outer}.${name}`)) return [file, `${outer}.${name}`];
  }
  if (types.has(name)) return [file, name];
  const [first = '', ...others] = name.split('.');
  const imported = imports.get(first);
  if (!imported) throw new Error(`${file} does not say what ${name} is.`);
  const from = path.join(path.dirname(file), imported[0].replace(/\.js$/, '.d.ts'));
  return [from, [imported[1], ...others].join('.')];
}

const plain: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  Decimal: { type: 'string', format: 'decimal' },
  Record: { type: 'object' },
  any: {},
  unknown: {},
};

function schemaOf(type: TypeNode, file: string, scope: string): Schema {
  switch (type.kind) {
    case 'literal':
      return { type: typeof type.value as 'string', enum: [type.value] };
    case 'array':
      return { type: 'array', items: schemaOf(type.of, file, scope) };
    case 'object':
      return objectOf({ type, extends: [] }, file, scope);
    case 'union':
      return unionOf(type.of, file, scope);
    case 'name':
      return namedOf(type.name, type.arguments, file, scope);
  }
}

function namedOf(name: string, given: readonly TypeNode[], file: string, scope: string): Schema {
  const known = plain[name];
  if (known) return known;
  if (name === 'ApiList') {
    return {
      type: 'object',
      properties: {
        object: { type: 'string', enum: ['list'] },
        data: { type: 'array', items: schemaOf(given[0] as TypeNode, file, scope) },
        has_more: { type: 'boolean' },
        url: { type: 'string' },
      },
      required: ['object', 'data', 'has_more', 'url'],
    };
  }
  const [from, at] = locate(name, file, scope);
  const isDescribed =
    from === file || from.endsWith('shared.d.ts') || fileOf.get(at.split('.')[0] ?? '') === from;
  return isDescribed ? described(from, at) : leftOut(at);
}

const isNamed = (type: TypeNode, ...names: readonly string[]) =>
  type.kind === 'name' && names.includes(type.name);

function unionOf(of: readonly TypeNode[], file: string, scope: string): Schema {
  const members = of.filter((each) => !isNamed(each, 'null', 'OtherString', 'undefined'));
  const nullable = of.some((each) => isNamed(each, 'null')) && { nullable: true as const };
  const literals = members.flatMap((each) => (each.kind === 'literal' ? [each.value] : []));
  if (literals.length === members.length) {
    return { type: typeof literals[0] as 'string', enum: literals, ...nullable };
  }
  const known = members
    .map((each) => schemaOf(each, file, scope))
    .filter(({ enum: values }) => values?.length !== 1 || values[0] !== '');
  if (known.length === 1) return { ...(known[0] as Schema), ...nullable };
  const expansions = known.filter(({ $ref, 'x-leftOut': name }) => $ref !== undefined || name);
  const isExpandable = members.some((each) => isNamed(each, 'string')) && expansions.length > 0;
  return isExpandable
    ? { type: 'string', ...nullable, 'x-expansionResources': { oneOf: expansions } }
    : { anyOf: known, ...nullable };
}

const endpoints = readDeclarations(
  readFileSync(path.join(source, 'WebhookEndpoints.d.ts'), 'utf8'),
).types.get('WebhookEndpointCreateParams.ApiVersion');
if (endpoints?.type.kind !== 'union') throw new Error('The versions of the API are not declared.');

const document: StripeDocument = {
  openapi: '3.0.0',
  info: {
    title: 'Stripe API, reduced',
    version:
      /'(.+)'/.exec(readFileSync(path.join(folder, 'esm', 'apiVersion.js'), 'utf8'))?.[1] ?? '',
    'x-source': `npm package stripe ${readFileSync(path.join(folder, 'VERSION'), 'utf8').trim()}`,
    'x-versions': endpoints.type.of.flatMap((each) =>
      each.kind === 'literal' ? [String(each.value)] : [],
    ),
  },
  paths: Object.fromEntries(
    paths.map(([url, method, parameters, answer]) => {
      const file = fileOf.get(answer);
      if (!file) throw new Error(`${answer} is not described.`);
      const code = readFileSync(file.replace(/\.d\.ts$/, '.js'), 'utf8');
      const called = url.replace('{id}', '${encodeURIComponent(id)}');
      const calls = new RegExp(
        `^ {4}${method}\\([^]*?_makeRequest\\('GET', ['\`]${called.replaceAll(/[$(){}]/g, String.raw`\$&`)}['\`],`,
        'm',
      );
      if (!calls.test(code)) throw new Error(`${file} does not call ${url}.`);
      const one = described(file, answer === 'Event' ? 'EventBase' : answer);
      const isDeletable = readFileSync(file, 'utf8').includes(
        `Promise<Response<${answer} | Deleted${answer}>>`,
      );
      const { properties = {}, required = [] } = objectOf(
        declarationsOf(file).types.get(parameters) as Declaration,
        file,
        parameters,
      );
      const listed = namedOf(
        'ApiList',
        [{ kind: 'name', name: 'unknown', arguments: [] }],
        file,
        '',
      );
      return [
        url,
        {
          parameters: { type: 'object' as const, properties, required },
          answer:
            method === 'list'
              ? {
                  ...listed,
                  properties: {
                    ...listed.properties,
                    data: { type: 'array' as const, items: one },
                  },
                }
              : isDeletable && method === 'retrieve'
                ? { anyOf: [one, described(file, `Deleted${answer}`)] }
                : one,
        },
      ];
    }),
  ),
  components: { schemas },
};
const { resources: published } = JSON.parse(readFileSync(fixturesFile, 'utf8')) as {
  readonly resources: Readonly<Record<string, unknown>>;
};
const fixtures = Object.fromEntries(Object.entries(published).filter(([name]) => name in schemas));
const write = (name: string, value: unknown) =>
  writeFileSync(path.join(import.meta.dirname, name), `${JSON.stringify(value)}\n`);
write('document.json', document);
write('fixtures.json', fixtures);
