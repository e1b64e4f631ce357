import type { Command } from './framework/command.ts';

/** What the statuses mean with which commands exit, for people. */
export const exitStatuses =
  '0 done, 1 failed, 2 wrong usage, 3 done but some records were refused. An import that Ctrl-C stops: 130';

/** Commands by their first word, loaded on use because most need little of the code. */
const families: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  demo: async () => [(await import('./serve/demo.ts')).demoCommand],
  serve: async () => [(await import('./serve/serve.ts')).serveCommand],
  migrate: async () => [(await import('./migrate.ts')).migrateCommand],
  distribute: async () => [(await import('./distribute.ts')).distributeCommand],
  shops: async () => (await import('./shops.ts')).shopCommands,
  keys: async () => (await import('./keys.ts')).keyCommands,
  owners: async () => (await import('./owners.ts')).ownerCommands,
  ids: async () => [(await import('./ids.ts')).idsCommand],
  import: async () => [(await import('./import/import.ts')).importCommand],
  mapping: async () => (await import('./mapping/suggest.ts')).mappingCommands,
  ingest: async () => (await import('./push/ingest.ts')).ingestCommands,
  sync: async () => (await import('./sync.ts')).syncCommands,
  shopify: async () => (await import('./shopify.ts')).shopifyCommands,
  platforms: async () => (await import('./platforms.ts')).platformCommands,
  feeds: async () => (await import('./feeds.ts')).feedsCommands,
  metrics: async () => [
    ...(await import('./metrics/check.ts')).checkCommands,
    ...(await import('./metrics/history.ts')).historyCommands,
  ],
  'demo-data': async () => [(await import('./demo-data.ts')).demoDataCommand],
  completion: async () =>
    (await import('./completion/completion.ts')).completionCommands(listCommands),
  doctor: async () => [(await import('./doctor.ts')).doctorCommand],
};

/** The commands that begin with a word. */
export async function familyOf(first: string): Promise<readonly Command[] | undefined> {
  return Object.hasOwn(families, first) ? families[first]?.() : undefined;
}

export async function listCommands(): Promise<Command[]> {
  return (await Promise.all(Object.values(families).map((load) => load()))).flat();
}
