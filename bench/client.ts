/* How many requests the TypeScript client's cache saves, in virtual time: no service is asked. */
import { Retention } from '../clients/typescript/src/index.ts';
import { beginTable, print } from './report.ts';

const customers = 100_000;
const callsPerSecond = 500;
const seconds = 60;

/** The same calls in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** For each customer, the share of calls about this one and those before, by Zipf's law with exponent 1. */
const shares = new Float64Array(customers);
let sum = 0;
for (const index of shares.keys()) shares[index] = sum += 1 / (index + 1);

function chooseCustomer(random: () => number): number {
  const wanted = random() * sum;
  let [low, high] = [0, customers - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shares[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

/** Requests of each minute: of the first, and of the second, when the cache is warm. */
async function countRequests(refusedShare: number, maxAgeSeconds: number): Promise<number[]> {
  const random = randomFrom(1);
  let requests = 0;
  let now = 0;
  const realNow = Date.now;
  Date.now = () => now;
  try {
    const retention = new Retention({
      baseUrl: 'http://service.test',
      key: 'rtn_bench',
      cache: { maxAgeSeconds },
      fetch: async (url) => {
        requests += 1;
        const customerId = Number(new URL(String(url)).searchParams.get('customerId'));
        // Spread over frequent and rare customers alike.
        const isEntitled = (Math.imul(customerId, 2_654_435_761) >>> 0) / 2 ** 32 >= refusedShare;
        const entry = {
          subscriptionId: customerId,
          planId: 12,
          planName: 'Monthly box',
          planType: 'subscription',
          status: 'active',
          isEntitled,
          paidThroughAt: null,
        };
        return new Response(JSON.stringify({ subscriptions: isEntitled ? [entry] : [] }));
      },
    });
    const counts: number[] = [];
    for (let minute = 0; minute < 2; minute += 1) {
      requests = 0;
      for (let call = 0; call < callsPerSecond * seconds; call += 1) {
        now += 1000 / callsPerSecond;
        await retention.entitled(chooseCustomer(random));
      }
      counts.push(requests);
    }
    return counts;
  } finally {
    Date.now = realNow;
  }
}

print(
  `${callsPerSecond} calls a second of entitled() for ${seconds} s, customers by Zipf's law (exponent 1.0) among ${customers}; default ages and bound. Requests without the cache / with it.`,
);
const row = beginTable(['not entitled', 'first minute', 'warm', 'requests, warm', 'without']);
for (const refusedShare of [0, 0.05, 0.1, 0.2]) {
  const [first = 0, warm = 0] = await countRequests(refusedShare, 60);
  const [, without = 0] = await countRequests(refusedShare, 0);
  row(
    `${refusedShare * 100}%`,
    (without / first).toFixed(2),
    (without / warm).toFixed(2),
    String(warm),
    String(without),
  );
}
