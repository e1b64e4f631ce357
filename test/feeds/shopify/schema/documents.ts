import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as queries from '../../../../src/platforms/shopify/api/queries.ts';
import * as webhookQueries from '../../../../src/platforms/shopify/api/queries.ts';

const manual = path.join(import.meta.dirname, '../../../../docs/shopify.md');

/** The queries that people run to export files. */
const documented = [...readFileSync(manual, 'utf8').matchAll(/```graphql\n([\s\S]*?)```/g)].map(
  ([, text = ''], index) => [`docs/shopify.md, query ${index + 1}`, text] as const,
);

/** Every query and mutation that the service sends or the documentation gives, by name. */
export const documents: ReadonlyMap<string, string> = new Map([
  ...Object.entries(queries),
  ...Object.entries(webhookQueries),
  ...documented,
]);

/** Those for bulk operations: they have no name and do no paging. */
export const bulkDocuments = [...documents].filter(([, text]) => text.trimStart().startsWith('{'));
