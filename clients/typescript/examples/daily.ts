// Posts the day's figures to a chat, from cron: 0 7 * * * node daily.ts
import { Retention } from '@retention/client';

const { RETENTION_URL: baseUrl = '', RETENTION_API_KEY: key = '', WEBHOOK_URL } = process.env;
if (WEBHOOK_URL === undefined) throw new Error('Set WEBHOOK_URL to where the message is posted.');

const retention = new Retention({ baseUrl, key });
const { mrr, currency, activeSubscribers, churnRate30d, dunningActive } =
  await retention.getMetricsSummary();

const money = new Intl.NumberFormat('en', { style: 'currency', currency });
const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2 });
const text = [
  `${money.format(mrr)} MRR, ${activeSubscribers} active subscribers`,
  `${share.format(churnRate30d)} churn in 30 days, ${dunningActive} payments outstanding`,
].join('\n');

const response = await fetch(WEBHOOK_URL, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text }),
});
if (!response.ok) throw new Error(`The chat answered ${response.status}.`);
