import assert from 'node:assert/strict';
import { z } from 'zod';
import { operations } from '../../src/operations/index.ts';
import type { ResponseObject } from '../../src/reference/document.ts';
import { restV1 } from '../../src/operations/versions.ts';
import { buildOpenApi } from '../../src/reference/openapi.ts';

const contract = buildOpenApi({ serverUrl: 'http://127.0.0.1', version: restV1 });
const components = '#/components/schemas/';
const definitions = inOneDocument(contract.components.schemas);

/** What the generated document and the catalogue say about each path, including the alias. */
const shapes = Object.entries(contract.paths).map(([path, { get: documented }]) => {
  const operation = operations.find((each) => path.endsWith(each.path));
  assert.ok(operation, `${path} is no operation`);
  return {
    tool: operation.tool,
    output: operation.output,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
    byStatus: new Map(
      Object.entries(documented.responses).map(([status, response]) => [
        Number(status),
        schemaOf(response),
      ]),
    ),
  };
});

function schemaOf(response: ResponseObject): z.ZodType {
  const schema = inOneDocument(response.content['application/json'].schema);
  return z.fromJSONSchema({ ...schema, $defs: definitions } as z.core.JSONSchema.JSONSchema);
}

function inOneDocument(schema: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema).replaceAll(components, '#/$defs/'));
}

/** The response of a retired version, which is documented once announced. */
const gone = 410;
/** Sent before the path is known. */
const unread = '{"success":false,"message":"The request could not be read."}';

/**
 * Checks a response against the contract: status and body match the generated document, successful ones have
 * no extra field, and all others are exactly the envelope. Every JSON response that the suite receives is
 * checked here.
 * @param path without the query
 */
export function checkAnswer(path: string, status: number, contentType: string, text: string): void {
  const isSuccess = status >= 200 && status <= 299;
  const shape = shapes.find(({ pattern }) => pattern.test(path));
  if (!shape && isSuccess) return;

  assert.equal(contentType, 'application/json; charset=utf-8');
  const body = JSON.parse(text);
  if (!isSuccess) {
    assert.equal(typeof body.message, 'string');
    assert.notEqual(body.message, '');
    assert.equal(text, JSON.stringify({ success: false, message: body.message }));
  }
  if (!shape || status === gone || text === unread) return;

  const documented = shape.byStatus.get(status);
  assert.ok(documented, `${status} of ${shape.tool} is not in the generated contract`);
  const { error } = documented.safeParse(body);
  assert.equal(error, undefined, `${shape.tool} breaks the generated contract: ${error?.message}`);
  // Parsing drops unknown fields, so an extra field shows up as a difference.
  if (isSuccess) assert.deepEqual(body, shape.output.parse(body));
}
