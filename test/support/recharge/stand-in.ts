import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../../src/clock.ts';
import type { JsonObject } from '../../../src/json.ts';

type ListName = 'subscriptions' | 'charges';

interface RechargeRequest {
  readonly path: string;
  readonly query: URLSearchParams;
}

export type RechargeStandIn = Awaited<ReturnType<typeof startRecharge>>;

const scopeOf = {
  store: 'read_store',
  subscriptions: 'read_subscriptions',
  charges: 'read_orders',
} as const;
const filters = ['sort_by', 'updated_at_min'];
const sorts = new Set(['id-asc', 'id-desc', 'updated_at-asc', 'updated_at-desc']);
const day = 86_400_000;

class Refusal extends Error {
  readonly status: number;
  readonly body: object;

  constructor(status: number, body: object) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }
}

/**
 * Recharge's API over real HTTP, as its documentation and public clients of it say: version 2021-11, pages with
 * cursors, scopes, errors, and charges that are forgotten 90 days after they were processed.
 */
export async function startRecharge(clock: Clock) {
  const lists = {
    subscriptions: new Map<number, JsonObject>(),
    charges: new Map<number, JsonObject>(),
  };
  const tokens = new Map<string, readonly string[]>();
  const requests: RechargeRequest[] = [];
  /** What no client should send. */
  const failures: string[] = [];
  /** How many times each still occurs; `listless` answers without the list. */
  const faults = { tooMany: 0, failed: 0, cut: 0, listless: 0 };
  const store = {
    id: 77,
    identifier: 'beans.example',
    name: 'Beans',
    currency: 'USD',
    enabled_presentment_currencies: ['USD', 'EUR'],
  };
  const standIn = {
    baseUrl: '',
    lists,
    requests,
    faults,
    store,
    /** Awaited before an answer is sent. */
    pause: async () => {},
    createToken(without: readonly string[] = []): string {
      const token = `sk_1x1_${crypto.randomUUID().replaceAll('-', '')}`;
      tokens.set(
        token,
        Object.values(scopeOf).filter((each) => !without.includes(each)),
      );
      return token;
    },
    revokeToken: (token: string) => void tokens.delete(token),
    put(name: ListName, object: JsonObject) {
      lists[name].set(Number(object['id']), object);
    },
    /** Changes an object now. */
    change(name: ListName, id: number, change: JsonObject) {
      const updated_at = new Date(clock.now()).toISOString().slice(0, 19);
      standIn.put(name, { ...lists[name].get(id), updated_at, ...change });
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      if (failures.length > 0) throw new Error(failures.join('\n'));
    },
  };

  const server = createServer(async (incoming, response) => {
    let [status, body]: [number, object] = [200, {}];
    const used = requests.length % 40;
    try {
      if (occurs('cut')) return void response.destroy();
      body = answer(incoming);
    } catch (error) {
      if (!(error instanceof Refusal)) failures.push(String(error));
      ({ status, body } = error instanceof Refusal ? error : { status: 500, body: {} });
    }
    await standIn.pause();
    response.writeHead(status, {
      'content-type': 'application/json',
      'x-recharge-limit': `${used}/40`,
    });
    response.end(JSON.stringify(body));
  });

  function occurs(fault: keyof typeof faults): boolean {
    faults[fault] -= 1;
    return faults[fault] >= 0;
  }

  function answer({ url = '', headers, method }: IncomingMessage): object {
    const { pathname, searchParams: query } = new URL(url, standIn.baseUrl);
    requests.push({ path: pathname, query });
    const scopes = tokens.get(String(headers['x-recharge-access-token']));
    if (!scopes) throw new Refusal(401, { error: 'bad authentication' });
    if (headers['x-recharge-version'] !== '2021-11') failures.push('another version');
    if (method !== 'GET') failures.push(`${method} ${url}`);
    if (occurs('tooMany')) throw new Refusal(429, { error: 'too many requests' });
    if (occurs('failed')) throw new Refusal(502, {});
    const name = pathname.slice(1) as keyof typeof scopeOf;
    if (!(name in scopeOf)) throw new Refusal(404, { error: 'Not Found' });
    if (!scopes.includes(scopeOf[name])) throw new Refusal(403, { error: 'missing scope' });
    if (occurs('listless')) return {};
    return name === 'store' ? { store } : page(name, query);
  }

  function page(name: ListName, query: URLSearchParams): object {
    const limit = Number(query.get('limit') ?? 50);
    if (!(limit >= 1 && limit <= 250)) throw new Refusal(422, { errors: { limit: ['invalid'] } });
    const cursor = query.get('cursor');
    const known = cursor === null ? [...filters, 'limit'] : ['cursor', 'limit'];
    for (const key of query.keys()) {
      if (!known.includes(key)) throw new Refusal(422, { errors: { [key]: ['not allowed'] } });
    }
    const place = cursor === null ? undefined : JSON.parse(atob(cursor));
    const sort = place?.sort ?? query.get('sort_by') ?? 'id-desc';
    if (!sorts.has(sort)) throw new Refusal(422, { errors: { sort_by: ['invalid'] } });
    const min = place?.min ?? query.get('updated_at_min') ?? '';
    const [key = '', direction] = sort.split('-');
    // Numbers and times of one form both sort as their texts do, once they are as long.
    const keyOf = (object: JsonObject) =>
      [String(object[key]).padStart(20), String(object['id']).padStart(20)].join(' ');
    const rows = [...lists[name].values()]
      .filter((each) => name !== 'charges' || !isForgotten(each))
      .filter((each) => String(each['updated_at']) >= min)
      .map((object) => ({ object, at: keyOf(object) }))
      .toSorted((a, b) => (a.at < b.at ? -1 : 1));
    if (direction === 'desc') rows.reverse();
    const isAfter = ({ at }: { at: string }) =>
      place === undefined || (direction === 'desc' ? at < place.at : at > place.at);
    const rest = rows.filter(isAfter);
    const some = rest.slice(0, limit);
    const next =
      rest.length > limit ? btoa(JSON.stringify({ sort, min, at: some.at(-1)?.at })) : null;
    return {
      [name]: some.map(({ object }) => object),
      next_cursor: next,
      previous_cursor: null,
    };
  }

  function isForgotten({ status, processed_at: at }: JsonObject): boolean {
    const isProcessed = ['success', 'refunded', 'partially_refunded'].includes(String(status));
    return isProcessed && Date.parse(`${String(at)}Z`) < clock.now() - 90 * day;
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  standIn.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return standIn;
}
