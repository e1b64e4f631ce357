import type { JsonSchema } from '../../src/operations/json-schema.ts';
import type {
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from '../../src/reference/document.ts';
import { listSchemaChanges, type Side } from './schema-changes.ts';

/**
 * What in a document breaks clients written for an earlier one, in words. Additions do not: operations,
 * optional parameters, statuses, headers, fields, words of a field.
 */
export function listBreakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  const compareSchemas = (schemas: readonly [JsonSchema, JsonSchema], side: Side, path: string) =>
    listSchemaChanges(schemas, [before.components.schemas, after.components.schemas], side, path);

  const compareParameter = (path: string, was: ParameterObject, is: ParameterObject) => [
    ...(is.required && !was.required ? [`${path} is required now`] : []),
    ...compareSchemas([was.schema, is.schema], 'sent', path),
  ];

  const compareParameters = (
    path: string,
    was: readonly ParameterObject[],
    is: readonly ParameterObject[],
  ) => {
    return [
      ...was.flatMap((each) => {
        const now = is.find(isSame(each));
        const name = `${path} ${each.in} parameter ${each.name}`;
        return now ? compareParameter(name, each, now) : [`${name} was removed`];
      }),
      ...is
        .filter((each) => each.required && !was.some(isSame(each)))
        .map((each) => `${path} ${each.in} parameter ${each.name} is new and required`),
    ];
  };

  const compareHeaders = (path: string, was: ResponseObject, is: ResponseObject) =>
    Object.keys(was.headers).flatMap((name) => {
      const [old, now] = [before.components.headers[name], after.components.headers[name]];
      if (!(name in is.headers) || !old || !now) return [`${path} header ${name} was removed`];
      return [
        ...(old.required && !now.required ? [`${path} header ${name} is optional now`] : []),
        ...compareSchemas([old.schema, now.schema], 'answered', `${path} header ${name}`),
      ];
    });

  const compareResponse = (path: string, was: ResponseObject, is: ResponseObject) => [
    ...compareHeaders(path, was, is),
    ...Object.entries(was.content).flatMap(([type, { schema }]) => {
      const now = Object.entries(is.content).find(([name]) => name === type)?.[1];
      return now
        ? compareSchemas([schema, now.schema], 'answered', `${path} body`)
        : [`${path} ${type} was removed`];
    }),
  ];

  const compareOperation = (path: string, was: OperationObject, is: OperationObject) => [
    ...(['operationId', 'x-required-scope'] as const)
      .filter((name) => was[name] !== is[name])
      .map((name) => `${path} ${name} was ${was[name]} and is ${is[name]}`),
    ...compareParameters(path, was.parameters, is.parameters),
    ...Object.entries(was.responses).flatMap(([status, response]) => {
      const now = is.responses[status];
      return now
        ? compareResponse(`${path} ${status}`, response, now)
        : [`${path} status ${status} was removed`];
    }),
  ];

  return [
    ...compareSecurity(before, after),
    ...Object.entries(before.paths).flatMap(([path, { get }]) => {
      const now = after.paths[path]?.get;
      return now ? compareOperation(`GET ${path}`, get, now) : [`GET ${path} was removed`];
    }),
  ];
}

/** Whether two parameters are the same one; a parameter has no other name. */
function isSame(one: ParameterObject): (other: ParameterObject) => boolean {
  return (other) => one.name === other.name && one.in === other.in;
}

function compareSecurity(before: OpenApiDocument, after: OpenApiDocument): string[] {
  return securityOf(before) === securityOf(after) ? [] : ['the way to authenticate changed'];
}

function securityOf({ security, components }: OpenApiDocument): string {
  const schemes = Object.entries(components.securitySchemes).map(
    ([name, { type, scheme, in: place }]) => [name, type, scheme, place],
  );
  return JSON.stringify([security, schemes]);
}
