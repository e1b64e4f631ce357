// Writes all subscriptions as CSV: node export.ts > subscriptions.csv
import { once } from 'node:events';
import { Retention } from '@retention/client';

const { RETENTION_URL: baseUrl = '', RETENTION_API_KEY: key = '' } = process.env;
// At the limit of requests it waits as long as the service says, and goes on.
const retention = new Retention({ baseUrl, key, maxRetries: 10 });

const columns = ['subscriptionId', 'customerId', 'status', 'planName', 'currentPrice'] as const;
const quote = (value: string | number) => `"${String(value).replaceAll('"', '""')}"`;

// As when it is piped to head, which reads no more.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
process.stdout.write(`${columns.join(',')}\n`);
for await (const subscription of retention.listSubscriptions()) {
  const line = columns.map((column) => quote(subscription[column])).join(',');
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}
