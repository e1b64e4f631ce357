import { readFileSync } from 'node:fs';
import type { ParameterObject } from './document.ts';

const template = readFileSync(new URL('./request.md', import.meta.url), 'utf8').trimEnd();

/** A request with the example values filled in, as code that runs as it stands: a shell, Node.js, Python. */
export function renderRequest(address: string, parameters: readonly ParameterObject[]): string {
  return template.replaceAll('{url}', fill(address, parameters));
}

function fill(address: string, parameters: readonly ParameterObject[]): string {
  const given = parameters.filter(({ example }) => example !== undefined);
  const filled = given.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(String(example))),
    address,
  );
  const query = new URLSearchParams(
    given.filter((one) => one.in === 'query').map(({ name, example }) => [name, String(example)]),
  ).toString();
  return query === '' ? filled : `${filled}?${query}`;
}
