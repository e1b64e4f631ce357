import { type Filled, type FilledShop, golden, push } from './fill.ts';
import type { Both, Report } from './report.ts';
import { askedAt } from './version.ts';
import { type Answer, type Visitor, whole } from './visitor.ts';

export const base = '/api/external/v1';

export const bearer = (key: string | undefined) => ({ authorization: `Bearer ${key}` });

/** Of ids of a shop that are asked for one by one. */
const maxIds = 60;
const lists = {
  subscriptions: ['', 'active', 'paused', 'cancelled', 'expired', 'failed'].map(
    (each) => `&status=${each}`,
  ),
  cancellations: ['', 'saved', 'cancelled', 'abandoned'].map((each) => `&outcome=${each}`),
};

/** Values that are refused, and some that look so. */
const wrongValues: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '101', '-1', '1.5', 'x', '', '%205', '0x10', '1e1', 'true', '5&limit=6', '007'],
  cursor: ['', 'x', 'eyJ', '%00', 'a&cursor=b'],
  status: ['', 'x', 'ACTIVE', 'active,paused', 'active&status=paused'],
  outcome: ['', 'x', 'SAVED', 'saved&outcome=saved'],
  customerId: [
    '',
    '0',
    '-1',
    '1.5',
    'x',
    '9007199254740993',
    '99999999999999999999',
    '1&customerId=2',
  ],
  unknown: ['1'],
};
const wrongIds = ['0', '-1', '1.5', 'x', '%20', '%00', '9007199254740993', '1e3', '1/2', '1/', ''];
const paths = ['entitlements', 'subscriptions', 'metrics/summary', 'plans', 'cancellations'];
const otherPaths = [
  'subscriptions/1',
  'nothing',
  'Plans',
  '/plans',
  'plans/',
  'plans/1',
  '%2e%2e/plans',
  '',
];
const methods = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

type Headers = Readonly<Record<string, string>>;

/** Every operation with its parameters and refusals, and what else programs send. */
export async function compareRest(
  visitors: Both<Visitor>,
  report: Report,
  filled: Filled,
): Promise<void> {
  const ask = (url: string, headers: Headers = {}, remark = '', method = 'GET') => {
    const pattern = `${method} ${url.split('?')[0]?.replaceAll(/\b\d+\b/g, ':id')}`;
    const question = { kind: 'rest', pattern, asked: `${method} ${url} ${remark}` } as const;
    return report.ask(question, visitors, (each) => each.send(url, { method, headers }), whole);
  };
  const get = (path: string, ...rest: readonly [Headers?, string?, string?]) =>
    ask(`${base}/${path}`, ...rest);
  /** Asks for a list to its end. */
  const getAll = async (path: string, key: Headers, remark: string) => {
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer: Answer = await get(path + (cursor && `&cursor=${cursor}`), key, remark);
      cursor = (JSON.parse(answer.body.toString()) as { nextCursor: string | null }).nextCursor;
    }
  };
  const keyOf = ({ id }: FilledShop) => bearer(filled.keys.get(id));

  for (const shop of filled.shops.filter(({ isLimited }) => !isLimited)) {
    const { customers, subscriptions } = idsOf(shop);
    const one = [
      'metrics/summary',
      'plans',
      ...customers.map((id) => `entitlements?customerId=${id}`),
      ...subscriptions.map((id) => `subscriptions/${id}`),
    ];
    for (const path of one) await get(path, keyOf(shop), shop.name);
    for (const [name, filters] of Object.entries(lists)) {
      for (const filter of filters.map((each) => each.replace(/&\w+=$/, ''))) {
        for (const limit of [7, 100])
          await getAll(`${name}?limit=${limit}${filter}`, keyOf(shop), shop.name);
      }
    }
  }

  const key = keyOf(filled.shops[0] as FilledShop);
  for (const path of paths) {
    for (const [name, values] of Object.entries(wrongValues)) {
      for (const value of values) await get(`${path}?${name}=${value}`, key);
    }
  }
  for (const id of wrongIds) await get(`subscriptions/${id}`, key);
  const page = await get('subscriptions?limit=2&status=active', key);
  const { nextCursor } = JSON.parse(page.body.toString()) as { nextCursor: string };
  for (const other of ['subscriptions?', 'subscriptions?status=paused&', 'cancellations?']) {
    await get(`${other}cursor=${nextCursor}`, key, '(of another list)');
  }

  const refused: Readonly<Record<string, Headers>> = {
    'no key': {},
    'an empty key': { authorization: 'Bearer' },
    'an invented key': bearer(`rtn_${'a'.repeat(43)}`),
    'a password': { authorization: 'Basic dXNlcjpwYXNz' },
    'lower case': { authorization: key.authorization.replace('Bearer', 'bearer') },
    'two spaces': { authorization: key.authorization.replace(' ', '  ') },
    ...Object.fromEntries(
      Object.entries(filled.otherKeys).map(([name, each]) => [name, bearer(each)]),
    ),
    ...Object.fromEntries(filled.shops.map((shop) => [shop.name, keyOf(shop)])),
  };
  for (const path of [...paths, ...otherPaths]) {
    for (const [name, headers] of Object.entries(refused)) await get(path, headers, `with ${name}`);
    for (const method of methods) await get(path, key, '', method);
  }
  const limited = filled.shops.find(({ tier }) => tier === 'growth') as FilledShop;
  for (let count = 1; count <= 62; count += 1)
    await get('plans', keyOf(limited), `request ${count}`);

  for (const path of ['/healthz', '/readyz', '/', '/nothing', '/api', '/favicon.ico'])
    await ask(path);
  const { source } = filled;
  const doors = ['records', 'mapped/stripe-webhooks'].map(
    (each) => `/ingest/v1/${source.sourceId}/${each}`,
  );
  for (const path of [
    ...doors,
    '/ingest/v1/src_1/records',
    '/webhooks/shopify',
    '/webhooks/none',
  ]) {
    await ask(path, { 'content-length': '0' }, 'unsigned', 'POST');
  }
  const records = golden.split('\n').slice(0, 20).join('\n');
  for (const body of [records, '{"type":"plan","id":-1}\nnot JSON\n', '', '[]']) {
    const question = { kind: 'rest', pattern: 'push', asked: `push ${body.slice(0, 30)}` } as const;
    await report.ask(question, visitors, (each) => push(each, source, body, askedAt), String);
  }
}

/** Ids that a shop's records have, and one that they do not have. */
export function idsOf({ files }: FilledShop) {
  const lines = files.flatMap((file) => file.split('\n')).filter((line) => line !== '');
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const found = records.filter(({ type }) => type === 'subscription');
  const [customers, subscriptions] = ['customerId', 'id'].map((name) => {
    const ids = new Set(found.map((record) => Number(record[name])));
    return [...[...ids].slice(0, maxIds), 999_999];
  }) as [number[], number[]];
  return { customers, subscriptions };
}
