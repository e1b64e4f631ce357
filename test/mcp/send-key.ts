/* Preloaded into a program that has no option for a key; adds one to each of its HTTP requests. */
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

const authorization = `Bearer ${process.env['SUITE_KEY']}`;

subscribe('http.client.request.created', (message) => {
  (message as { request: ClientRequest }).request.setHeader('authorization', authorization);
});
// For Node's fetch and the undici package.
subscribe('undici:request:create', (message) => {
  const { request } = message as { request: { addHeader(name: string, value: string): void } };
  request.addHeader('authorization', authorization);
});
