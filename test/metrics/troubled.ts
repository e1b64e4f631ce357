import { line, plan } from '../rest/records.ts';

const at = (day: string) => `2026-11-${day}${day.includes('T') ? '' : 'T00:00:00'}Z`;
const isPayment = ([, what]: readonly [string, string]) => what === 'pays' || what === 'fails';

/** A subscription that started on 1 October, with payments and changes in November 2026. */
function troubled(id: number, events: readonly (readonly [day: string, what: string])[]): object[] {
  const changes = events.filter((each) => !isPayment(each));
  return [
    {
      type: 'subscription',
      id,
      customerId: id,
      planId: 11,
      status: changes.at(-1)?.[1] ?? 'active',
      createdAt: '2026-10-01T00:00:00Z',
      statusEvents: changes.map(([day, to]) => ({ at: at(day), to })),
      lines: [line],
    },
    ...events.filter(isPayment).map(([day, what], index) => ({
      type: 'payment',
      id: id * 100 + index,
      subscriptionId: id,
      cycle: index,
      status: what === 'pays' ? 'succeeded' : 'failed',
      amount: '30.60',
      processedAt: at(day),
    })),
  ];
}

/** Seven subscriptions whose payments fail around their end. */
export const troubledRecords: readonly object[] = [
  plan(),
  ...troubled(1, [
    ['01', 'cancelled'],
    ['05', 'fails'],
  ]),
  ...troubled(2, [
    ['01', 'expired'],
    ['02', 'fails'],
    ['03', 'pays'],
  ]),
  // Becomes live again, and fails again.
  ...troubled(3, [
    ['01', 'failed'],
    ['02', 'fails'],
    ['04', 'active'],
    ['06', 'fails'],
  ]),
  ...troubled(4, [
    ['02', 'fails'],
    ['04', 'cancelled'],
  ]),
  // At one instant payments come first: the case opens and the end closes it.
  ...troubled(5, [
    ['07T10:00:00', 'fails'],
    ['07T10:00:00', 'failed'],
  ]),
  // At the instant of its return the subscription still counts as ended; a millisecond later it does not.
  ...troubled(6, [
    ['01', 'cancelled'],
    ['08T10:00:00', 'fails'],
    ['08T10:00:00', 'paused'],
  ]),
  ...troubled(7, [
    ['01', 'cancelled'],
    ['08T10:00:00', 'paused'],
    ['08T10:00:00.001', 'fails'],
    ['09', 'pays'],
  ]),
];

/** Their cases as text: subscription, start, end and result. */
export const troubledCases = [
  '3 2026-11-06 00:00:00',
  '4 2026-11-02 00:00:00 2026-11-04 00:00:00 lost',
  '5 2026-11-07 10:00:00 2026-11-07 10:00:00 lost',
  '7 2026-11-08 10:00:00.001 2026-11-09 00:00:00 recovered',
];
