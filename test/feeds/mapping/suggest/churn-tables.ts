import { createRandom, money, statusOf, table, two } from './tables.ts';

const contracts = ['Month-to-month', 'One year', 'Two year'];
const yesNo = ['Yes', 'No', 'No', 'No'] as const;
/** Without the zeros at its end, as spreadsheets write numbers. */
const short = (cents: number) => String(cents / 100);

/** A telephone company's 7,000 customers, in the columns of a well-known public table. */
export const telephone = table(
  'telephone',
  'customerID|gender|SeniorCitizen|Partner|Dependents|tenure|PhoneService|MultipleLines|InternetService|OnlineSecurity|TechSupport|StreamingTV|Contract|PaperlessBilling|PaymentMethod|MonthlyCharges|TotalCharges|Churn',
  7000,
  ({ below, oneOf }, index) => {
    const tenure = below(73);
    const cents = 1825 + below(10_000);
    const churn = oneOf(yesNo);
    const cells = [
      `${1000 + index}-${oneOf(['VHVEG', 'GNVDE', 'QPYBK'])}`,
      oneOf(['Female', 'Male']),
      below(2),
      oneOf(yesNo),
      oneOf(yesNo),
      tenure,
      'Yes',
      oneOf(['No phone service', 'Yes']),
      oneOf(['DSL', 'Fiber optic', 'No']),
      oneOf(yesNo),
      oneOf(yesNo),
      oneOf(yesNo),
      oneOf(contracts),
      oneOf(yesNo),
      oneOf(['Mailed check', 'Bank transfer (automatic)']),
      short(cents),
      tenure === 0 ? ' ' : short(cents * tenure),
      churn,
    ];
    return { cells, status: statusOf(churn === 'Yes'), cents };
  },
);

export const churnTables = [
  telephone,
  table(
    'status words instead of yes and no, and many other amounts',
    'Customer ID|Age|Married|City|Zip Code|Number of Referrals|Tenure in Months|Offer|Avg Monthly Long Distance Charges|Contract|Payment Method|Monthly Charge|Total Charges|Total Refunds|Total Revenue|Customer Status|Churn Category|Churn Reason',
    300,
    ({ below, oneOf }, index) => {
      const cents = 1800 + below(10_000);
      const word = oneOf(['Stayed', 'Churned', 'Joined']);
      const cells = [
        `00${index}-ORFBO`,
        19 + below(60),
        'Yes',
        'Malaga',
        93_225,
        below(9),
        1 + below(70),
        oneOf(['None', 'Offer A']),
        '42.39',
        oneOf(contracts),
        'Credit Card',
        short(cents),
        short(cents * 9),
        '0.0',
        short(cents * 10),
        word,
        ...(word === 'Churned' ? ['Competitor', 'Better devices'] : ['', '']),
      ];
      return { cells, status: statusOf(word === 'Churned'), cents };
    },
  ),
  table(
    'a flag of 0 and 1, the id in the last column but one, and amounts a customer never paid',
    'AccountAge|MonthlyCharges|TotalCharges|SubscriptionType|PaymentMethod|ContentType|UserRating|CustomerID|Churn',
    300,
    ({ below, oneOf }, index) => {
      const cents = 500 + below(1500);
      const churn = below(2);
      const cells = [
        1 + below(119),
        short(cents),
        short(cents * 7),
        oneOf(['Basic', 'Premium']),
        'Mailed check',
        'Both',
        '2.17',
        `CB6SXPNVZ${index}A`,
        churn,
      ];
      return { cells, status: statusOf(churn === 1), cents };
    },
  ),
  table(
    'several subscriptions of a customer, MRR beside the billing frequency and seats',
    'subscription_id|account_id|start_date|end_date|plan_tier|seats|mrr_amount|arr_amount|is_trial|upgrade_flag|churn_flag|billing_frequency|auto_renew_flag',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 100 * below(5000);
      const isGone = below(4) === 0;
      const [year, month, date] = day();
      const cells = [
        `S-${index}`,
        `A-${below(90)}`,
        `${year}-${two(month)}-${two(date)}`,
        isGone ? `2026-01-${two(date)}` : '',
        oneOf(['Basic', 'Pro']),
        1 + below(60),
        cents / 100,
        (cents * 12) / 100,
        'False',
        'False',
        isGone ? 'True' : 'False',
        oneOf(['monthly', 'annual']),
        'True',
      ];
      return { cells, status: statusOf(isGone), cents };
    },
  ),
  table(
    'an end of NULL, times, and a billing cycle of 1 or 12 months',
    'customer_id|subscription_id|product|price|billing_cycle|signup_date_time|cancel_date_time',
    300,
    ({ below, oneOf, day }, index) => {
      const [cents, months] = oneOf([
        [12_500, 1],
        [120_000, 12],
      ] as const);
      const isGone = below(2) === 0;
      const [year, month, date] = day();
      const cells = [
        1000 + below(200),
        500 + index,
        oneOf(['prd_1', 'prd_2']),
        cents / 100,
        months,
        `${year}-${two(month)}-${two(date)} 10:12:00`,
        isGone ? `2026-03-${two(date)} 09:00:00` : 'NULL',
      ];
      return { cells, status: statusOf(isGone), cents, months };
    },
  ),
  table(
    'all quoted, American dates, dollars with thousands, past due and trials',
    'Customer ID|Email|Plan Name|Billing Period|Amount|Subscription Status|Created Date|Cancellation Date',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 12 * (100 + below(70_000));
      const [word, meaning] = oneOf([
        ['Active', 'active'],
        ['Past Due', 'active'],
        ['Trialing', 'active'],
        ['Canceled', 'cancelled'],
        ['Paused', 'paused'],
      ] as const);
      const [interval, months] = oneOf([
        ['Monthly', 1],
        ['Annual', 12],
      ] as const);
      const [year, month, date] = day();
      const cells = [
        `cust_${index}`,
        `acct${index}@example.com`,
        oneOf(['Starter', 'Scale']),
        interval,
        `$${money(cents, '.', ',')}`,
        word,
        `${month}/${date}/${year}`,
        word === 'Canceled' ? `11/${date > 20 ? 1 : date}/2025` : '',
      ];
      return { cells, status: meaning, cents, months };
    },
    { quoteAll: true },
  ),
  table(
    'no id at all',
    'Call Failure|Complains|Subscription Length|Charge Amount|Seconds of Use|Tariff Plan|Age|Customer Value|Churn',
    300,
    ({ below }) => {
      const cents = 100 * below(10);
      const churn = below(2);
      const usage = [below(30), below(2), 3 + below(40), cents / 100, below(9999), 1 + below(2)];
      return {
        cells: [...usage, 20 + below(40), short(below(99)), churn],
        status: statusOf(churn === 1),
        cents,
      };
    },
  ),
  table(
    'two-digit years, whole numbers as amounts, and words for churn',
    'clientnum|attrition_flag|tier|monthly_fee|member_since|months_inactive_12_mon',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 100 * (5 + below(40));
      const flag = oneOf(['Existing Customer', 'Attrited Customer']);
      const [year, month, date] = day();
      const since = `${two(date)}-${two(month)}-${year - 2000}`;
      const cells = [
        768_805_383 + index,
        flag,
        oneOf(['Blue', 'Gold']),
        cents / 100,
        since,
        below(6),
      ];
      return { cells, status: statusOf(flag.startsWith('A')), cents };
    },
  ),
];

/** Subscriptions in JSON, with ids, plans and customers as objects inside. */
export function jsonTable() {
  const { below, oneOf, day } = createRandom(5);
  const count = { active: 0, cancelled: 0 };
  let twelfths = 0;
  const subscriptions = Array.from({ length: 300 }, (_, index) => {
    const [cents, unit, length, months] = oneOf([
      [1900, 'month', 1, 1],
      [19_200, 'year', 1, 12],
      [4800, 'month', 3, 3],
    ] as const);
    const quantity = 1 + below(4);
    const state = oneOf(['active', 'past_due', 'canceled'] as const);
    const meaning = statusOf(state === 'canceled');
    count[meaning] += 1;
    if (meaning === 'active') twelfths += (cents * quantity * 12) / months;
    const [year, month, date] = day();
    return {
      id: `su-${index}`,
      customer: { id: `cu-${index % 90}`, email: `a${index}@example.com`, name: 'Planted Name' },
      state,
      plan: {
        code: `p${cents}`,
        name: `Plan ${cents}`,
        interval_unit: unit,
        interval_length: length,
      },
      quantity,
      unit_amount_in_cents: cents,
      activated_at: `${year}-${two(month)}-${two(date)}T00:00:00Z`,
      canceled_at: state === 'canceled' ? '2026-10-01T00:00:00Z' : null,
    };
  });
  return { subscriptions, figures: { statuses: count, mrr: Math.round(twelfths / 12) / 100 } };
}
