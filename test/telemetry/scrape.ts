import assert from 'node:assert/strict';
import { parseExposition } from './exposition.ts';

export const duration = 'retention_request_duration_seconds';

export async function scrape(metricsUrl: string | undefined) {
  assert.ok(metricsUrl);
  const response = await fetch(metricsUrl);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  return { text, families: parseExposition(text) };
}

/** The number of requests by transport, operation and status. */
export async function counted(metricsUrl: string | undefined): Promise<Record<string, number>> {
  const { families } = await scrape(metricsUrl);
  const samples = families.get(duration)?.samples ?? [];
  return Object.fromEntries(
    samples
      .filter(({ name }) => name === `${duration}_count`)
      .map(({ labels: { transport, operation, status }, value }) => [
        `${transport} ${operation} ${status}`,
        value,
      ]),
  );
}
