import { CommanderError } from 'commander';
import { parseConfig } from '../config/config.ts';
import { platformSettings } from '../config/platform-config.ts';
import { settings } from '../config/settings.ts';
import { platforms } from '../platforms/registry.ts';
import { commit, version } from '../version.ts';
import { type Command, exitStatus, explain } from './framework/command.ts';
import type { Io } from './framework/io.ts';
import { parserOf, unambiguous } from './framework/parser.ts';

/**
 * Runs the command line.
 * @param args what is typed after `retention`
 * @returns the exit status
 */
export async function main(args: readonly string[], io: Io): Promise<number> {
  try {
    const asksForHelp = ['help', '--help', '-h'].includes(args[0] ?? '');
    const words = asksForHelp ? [...args.slice(1), '--help'] : args;
    const family = await familyOf(words[0] ?? '');
    // To say the version, none is loaded.
    const commands = words[0] === '--version' ? [] : (family ?? (await listCommands()));
    let status: number = exitStatus.done;
    const parser = parserOf(commands, io, async (command, given) => {
      const config = parseConfig(
        io.environment(),
        platforms.map((platform) => platform.settings),
      );
      const log = io.openLog(config.logLevel);
      status = await command.run(given, {
        config,
        log,
        io,
        actor: { who: 'command line', session: command.name },
      });
    })
      .version(
        `retention ${version} (${commit})\nNode.js ${process.version}, ${process.platform} ${process.arch}`,
        '--version',
        'prints the version',
      )
      .addHelpText('after', aboutSettings);
    // What follows a word that names no command does not matter, not even --help.
    const known = family?.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `));
    const parsed = known ? unambiguous(known, words) : words.slice(0, family ? 2 : 1);
    await parser.parseAsync(parsed, { from: 'user' });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) return explain(error, io);
    return error.exitCode === 0 ? exitStatus.done : exitStatus.wrongUsage;
  }
}

function aboutSettings(): string {
  const all = [
    ...Object.values(settings),
    ...platforms.map((platform) => platformSettings(platform.settings)),
  ];
  const names = `${all.flatMap(Object.keys).join(', ')}, and OpenTelemetry's for traces; "retention doctor" shows their values.`;
  return [
    '',
    '"retention COMMAND --help" explains a command.',
    'Settings are environment variables; .env in the current folder supplies those that are not set:',
    // Lines of at most 100 characters.
    ...(names.match(/\S.{0,99}(?= |$)/g) ?? []),
    `Exit status: ${exitStatuses}.`,
  ].join('\n');
}

/** What the statuses mean with which commands exit, for people. */
export const exitStatuses =
  '0 done, 1 failed, 2 wrong usage, 3 done but some records were refused. An import that Ctrl-C stops: 130';

/** Commands by their first word, loaded on use because most need little of the code. */
const families: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  demo: async () => [(await import('./serve/demo.ts')).demoCommand],
  serve: async () => [(await import('./serve/serve.ts')).serveCommand],
  migrate: async () => [(await import('./migrate.ts')).migrateCommand],
  distribute: async () => [(await import('./migrate.ts')).distributeCommand],
  shops: async () => (await import('./shops.ts')).shopCommands,
  keys: async () => (await import('./keys.ts')).keyCommands,
  owners: async () => (await import('./owners.ts')).ownerCommands,
  audit: async () => (await import('./audit.ts')).auditCommands,
  ids: async () => [(await import('./shops.ts')).idsCommand],
  'customer-key': async () => [(await import('./shops.ts')).customerKeyCommand],
  import: async () => [(await import('./import/import.ts')).importCommand],
  mapping: async () => (await import('./mapping.ts')).mappingCommands,
  ingest: async () => (await import('./ingest.ts')).ingestCommands,
  sync: async () => (await import('./sync.ts')).syncCommands,
  ...Object.fromEntries(
    platforms
      .filter(({ loadCommands }) => loadCommands)
      .map((each) => [each.name, async () => (await import('./of-platforms.ts')).commandsOf(each)]),
  ),
  platforms: async () => (await import('./platforms.ts')).platformCommands,
  feeds: async () => (await import('./feeds.ts')).feedsCommands,
  metrics: async () => [
    ...(await import('./metrics.ts')).checkCommands,
    ...(await import('./metrics.ts')).historyCommands,
  ],
  'demo-data': async () => [(await import('./demo-data.ts')).demoDataCommand],
  completion: async () => (await import('./completion.ts')).completionCommands(listCommands),
  doctor: async () => [(await import('./doctor.ts')).doctorCommand],
};

/** The commands that begin with a word. */
async function familyOf(first: string): Promise<readonly Command[] | undefined> {
  return Object.hasOwn(families, first) ? families[first]?.() : undefined;
}

export async function listCommands(): Promise<Command[]> {
  return (await Promise.all(Object.values(families).map((load) => load()))).flat();
}
