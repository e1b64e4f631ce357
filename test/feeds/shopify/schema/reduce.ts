/*
 * Reduces published introspection data to what the service uses, and writes admin-VERSION.graphql for each file:
 *
 * npm pack @shopify/dev-mcp && tar -xzf shopify-dev-mcp-*.tgz
 * node_modules/.bin/node test/feeds/shopify/schema/reduce.ts package/dist/data/admin_{2026-10,unstable}.json.gz
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { IntrospectionQuery } from 'graphql';
import { documents } from './documents.ts';
import { reduceSchema } from './reduction.ts';
import { schemaPath } from './schema.ts';

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('Name the introspection data: admin_VERSION.json.gz.');
for (const file of files) {
  const version = /^admin_(.+)\.json\.gz$/.exec(path.basename(file))?.[1];
  if (version === undefined) throw new Error(`${file} is not named admin_VERSION.json.gz.`);
  const { data } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    data: IntrospectionQuery;
  };
  writeFileSync(schemaPath(version), reduceSchema(data, documents));
}
