/* Loaded before a program that has no way to send a key: adds one to each of its HTTP requests. */
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

const authorization = `Bearer ${process.env['SUITE_KEY']}`;

subscribe('http.client.request.created', (message) => {
  (message as { request: ClientRequest }).request.setHeader('authorization', authorization);
});
// Node's fetch and the package of that name.
subscribe('undici:request:create', (message) => {
  const { request } = message as { request: { addHeader(name: string, value: string): void } };
  request.addHeader('authorization', authorization);
});
