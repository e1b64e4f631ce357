import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as queries from '../../../../src/platforms/shopify/api/queries.ts';
import * as webhookQueries from '../../../../src/platforms/shopify/api/queries.ts';

const folder = path.join(import.meta.dirname, '../../../../docs');

/** The queries that people run to export files. */
const documented = ['shopify-contracts.graphql', 'shopify-plans.graphql'].map(
  (name) => [`docs/${name}`, readFileSync(path.join(folder, name), 'utf8')] as const,
);

/** Every query and mutation that the service sends or the documentation gives, by name. */
export const documents: ReadonlyMap<string, string> = new Map([
  ...Object.entries(queries),
  ...Object.entries(webhookQueries),
  ...documented,
]);

/** Those for bulk operations: they have no name and do no paging. */
export const bulkDocuments = [...documents].filter(([, text]) => text.trimStart().startsWith('{'));
