import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type GraphQLSchema, GraphQLEnumType, buildSchema } from 'graphql';
import { apiVersion } from '../../../../src/platforms/shopify/api/version.ts';

/** The version in use, and what the next one will be made from. */
export const versions = [apiVersion, 'unstable'] as const;

export function schemaPath(version: string): string {
  return path.join(import.meta.dirname, `admin-${version}.graphql`);
}

/** Shopify's schema, reduced to what the service uses. */
export function readSchema(version: string): GraphQLSchema {
  return buildSchema(readFileSync(schemaPath(version), 'utf8'));
}

/** All values of an enum. */
export function enumValues(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  if (!(type instanceof GraphQLEnumType)) throw new Error(`The schema has no enum ${name}.`);
  return type.getValues().map((value) => value.name);
}
