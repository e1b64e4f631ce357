import { parseArgs } from 'node:util';
import { type Command, isUnexpected, print, tell } from './commands/command.ts';
import { setLastResort } from './commands/serve/last-resort.ts';
import { suggest } from './commands/terminal/suggest.ts';
import { parseConfig } from './config/config.ts';
import { withEnvFile } from './config/env-file.ts';
import { CommandError, UsageError, describeError } from './errors.ts';
import { createLog, redact } from './log/log.ts';
import { platforms } from './platforms/registry.ts';
import { commit, version } from './version.ts';

/** Commands by their first word, loaded on use because most need little of the code. */
const families: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  demo: async () => [(await import('./commands/serve/demo.ts')).demoCommand],
  serve: async () => [(await import('./commands/serve/serve.ts')).serveCommand],
  migrate: async () => [(await import('./commands/migrate.ts')).migrateCommand],
  distribute: async () => [(await import('./commands/distribute.ts')).distributeCommand],
  shops: async () => (await import('./commands/shops.ts')).shopCommands,
  keys: async () => [
    ...(await import('./commands/keys.ts')).keyCommands,
    ...(await import('./commands/revocations.ts')).revocationCommands,
  ],
  owners: async () => (await import('./commands/owners.ts')).ownerCommands,
  ids: async () => [(await import('./commands/ids.ts')).idsCommand],
  import: async () => [(await import('./commands/import/import.ts')).importCommand],
  mapping: async () => (await import('./commands/mapping/suggest.ts')).mappingCommands,
  ingest: async () => (await import('./commands/door/ingest.ts')).ingestCommands,
  sync: async () => (await import('./commands/sync.ts')).syncCommands,
  shopify: async () => (await import('./commands/shopify.ts')).shopifyCommands,
  platforms: async () => (await import('./commands/platforms.ts')).platformCommands,
  feeds: async () => (await import('./commands/feeds.ts')).feedsCommands,
  metrics: async () => [
    ...(await import('./commands/metrics/check.ts')).checkCommands,
    ...(await import('./commands/metrics/history.ts')).historyCommands,
  ],
  'demo-data': async () => [(await import('./commands/demo-data.ts')).demoDataCommand],
  completion: async () =>
    (await import('./commands/completion/completion.ts')).completionCommands(listCommands),
  doctor: async () => [(await import('./commands/doctor.ts')).doctorCommand],
};

// Commands that run until stopped replace this with one that logs.
setLastResort({ report: (error) => void explain(error) });
process.stdout.on('error', (error) => {
  if (isUnexpected(error)) throw error;
});
process.exitCode = await main(process.argv.slice(2)).catch(explain);

async function main(args: readonly string[]): Promise<number> {
  if (args.length === 0) {
    tell(await overview());
    return 2;
  }
  if (args[0] === 'help' || asksForHelp(args[0])) {
    print(await helpOn(args.slice(1)));
    return 0;
  }
  if (args[0] === '--version') {
    print(
      `retention ${version} (${commit})\nNode.js ${process.version}, ${process.platform} ${process.arch}`,
    );
    return 0;
  }
  if (asksForHelp(args[1])) {
    print(await helpOn(args.slice(0, 1)));
    return 0;
  }
  const command = await findCommand(args);
  const rest = args.slice(command.name.split(' ').length);
  if (rest.some(asksForHelp)) {
    print(helpOf(command));
    return 0;
  }
  const { values, positionals } = parse(command, rest);
  const config = parseConfig(
    withEnvFile(process.env),
    platforms.map(({ settings }) => settings),
  );
  const log = createLog(config.logLevel);
  return command.run({
    config,
    log,
    options: values as Record<string, string | boolean | undefined>,
    positionals,
  });
}

function asksForHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h';
}

/** Explains everything, the commands that begin with a word, or a command. */
async function helpOn(words: readonly string[]): Promise<string> {
  const [first, ...more] = words;
  if (first === undefined) return overview();
  const family = await familyOf(first);
  return more.length === 0 && family?.every(({ name }) => name !== first)
    ? helpOfFamily(first, family)
    : helpOf(await findCommand(words));
}

async function familyOf(first: string): Promise<readonly Command[] | undefined> {
  return Object.hasOwn(families, first) ? families[first]?.() : undefined;
}

async function findCommand(args: readonly string[]): Promise<Command> {
  const [first = '', second = ''] = args;
  const family = await familyOf(first);
  const command = family?.find(({ name }) => isNamed(args, name));
  if (command) return command;
  const names = (await listCommands()).map(({ name }) => name);
  const meant = suggest(`${first} ${second}`, names);
  if (family) {
    const words = family.map(({ name }) => name.split(' ')[1]).join(', ');
    throw new UsageError(`"retention ${first}" needs one of: ${words}.${didYouMean(meant)}`);
  }
  const firstWords = names.map((name) => name.split(' ', 1)[0] as string);
  throw new UsageError(
    `Unknown command "${first}". "retention help" lists all commands.` +
      didYouMean(meant ?? suggest(first, firstWords)),
  );
}

async function listCommands(): Promise<Command[]> {
  return (await Promise.all(Object.values(families).map((load) => load()))).flat();
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
}

function isNamed(args: readonly string[], name: string): boolean {
  return name.split(' ').every((word, index) => args[index] === word);
}

function parse(command: Command, args: string[]) {
  const [min, max] = command.positionals ?? [0, 0];
  const usage = `\nUsage: retention ${command.name} ${command.synopsis}`.trimEnd();
  try {
    const parsed = parseArgs({
      args,
      options: command.options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
    const given = parsed.tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    const repeated = given.find(
      (name, index) => given.indexOf(name) < index && !command.options[name]?.multiple,
    );
    if (repeated) throw new UsageError(`--${repeated} is given twice; give it once.`);
    if (parsed.positionals.length < min) throw new UsageError('An argument is missing.');
    if (parsed.positionals.length > max) {
      throw new UsageError(`Unexpected argument "${parsed.positionals[max]}".`);
    }
    return parsed;
  } catch (error) {
    // Drops the advice that Node.js adds about arguments that begin with a dash.
    const reason = (error as Error).message.replace(/\. To specify a positional.*/s, '.');
    const [, option] = /^Unknown option '--([^']+)'/.exec(reason) ?? [];
    const meant = option && suggest(option, [...Object.keys(command.options), 'help']);
    throw new UsageError(reason + didYouMean(meant && `--${meant}`) + usage);
  }
}

async function overview(): Promise<string> {
  return [
    'Usage: retention COMMAND [OPTIONS]',
    '',
    ...summaries(await listCommands()),
    '',
    '"retention COMMAND --help" explains a command; "retention --version" prints the version.',
    'Settings are environment variables; .env in the current folder supplies those that are not set:',
    'DATABASE_URL, DATABASE_READ_URL, DATABASE_SERVE_URL, REDIS_URL, RETENTION_DATA_DIR, HOST, PORT,',
    'METRICS_PORT, METRICS_HOST, BASE_URL, TRUSTED_PROXIES, LOG_LEVEL, STOP_SECONDS, CREDENTIALS_KEY, SYNC,',
    'UPLOAD_DIR, UPLOAD_MAX_MEGABYTES, SMTP_URL, SMTP_FROM,',
    `${platforms.flatMap(({ settings }) => [settings.credentialsFile, settings.webhookSecrets.variable]).join(', ')}, and OpenTelemetry's for traces; "retention doctor" shows their values.`,
    'Exit status: 0 done, 1 failed, 2 wrong usage, 3 done but some records were refused. An import that Ctrl-C stops: 130.',
  ].join('\n');
}

function helpOfFamily(first: string, family: readonly Command[]): string {
  const usage = `Usage: retention ${first} COMMAND [OPTIONS]`;
  const more = `"retention ${first} COMMAND --help" explains a command.`;
  return [usage, '', ...summaries(family), '', more].join('\n');
}

function summaries(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  return commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
}

function helpOf({ name, synopsis, summary, details = [] }: Command): string {
  return [
    `Usage: retention ${name} ${synopsis}`.trimEnd(),
    '',
    `  ${summary}`,
    ...details.map((line) => `  ${line}`),
  ].join('\n');
}

/** Explains what the user can fix in a sentence; anything else is a bug and shown in full. */
function explain(error: unknown): number {
  if (error instanceof UsageError || error instanceof CommandError) {
    tell(redact(`retention: ${error.message}`));
    return error instanceof UsageError ? 2 : 1;
  }
  tell(redact(`retention: ${describeError(error)}`));
  return 1;
}
