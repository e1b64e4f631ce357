import { money, statusOf, table, two } from './tables.ts';

/** Tables of companies that bill others, and of a shop without subscriptions. */
export const businessTables = [
  table(
    'contracts with a value a year, licences, a term, and codes as their status',
    'contract_id|account_id|product_tier|annual_contract_value|currency_iso_code|licenses|term_months|effective_date|renewal_date|contract_status|terminated_on',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 12_000 * (1 + below(900));
      const [code, meaning] = oneOf([
        ['A', 'active'],
        ['C', 'cancelled'],
        ['S', 'paused'],
      ] as const);
      const [year, month, date] = day();
      const cells = [
        `CTR-${index}`,
        `ACC-${below(120)}`,
        oneOf(['Enterprise', 'Team']),
        cents / 100,
        'USD',
        1 + below(50),
        oneOf([12, 24, 36]),
        `${year}-${two(month)}-${two(date)}`,
        `2027-${two(month)}-${two(date)}`,
        code,
        code === 'C' ? `2026-02-${two(date)}` : '',
      ];
      return { cells, status: meaning, cents, months: 12 };
    },
  ),
  table(
    'weeks of ISO 8601, prices such as $1,234.50/mo, an end called "Active until", quoted line breaks',
    'User|Signup week|Active until|Price|Subscription state|In trial|Notes',
    300,
    ({ below, oneOf }, index) => {
      const cents = 900 + below(200_000);
      const state = oneOf(['Active', 'Canceled', 'Past due']);
      const isGone = state === 'Canceled';
      const cells = [
        `u-${index}`,
        `2025-W${two(1 + below(52))}`,
        isGone ? `${1 + below(9)}/${13 + below(15)}/2026` : '',
        `$${money(cents, '.', ',')}/mo`,
        state,
        oneOf(['TRUE', 'FALSE']),
        index % 9 === 0 ? 'called,\nand "wrote"' : '',
      ];
      return { cells, status: statusOf(isGone), cents };
    },
    { quoteAll: true, end: '\r\n' },
  ),
  table(
    'a shop without prices, whose other amounts are none',
    'CustomerID|Churn|Tenure|CityTier|WarehouseToHome|OrderAmountHikeFromlastYear|CouponUsed|OrderCount|CashbackAmount',
    300,
    ({ below, oneOf }, index) => {
      const churn = below(2);
      const tenure = index % 20 === 0 ? '' : below(60);
      const amounts = [oneOf([1, 2, 3]), below(30), 11 + below(15), below(9), below(9)];
      return {
        cells: [50_001 + index, churn, tenure, ...amounts, money(15_900 + below(9000))],
        status: statusOf(churn === 1),
        cents: 0,
      };
    },
  ),
];
