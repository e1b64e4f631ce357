import { parseArgs } from 'node:util';
import {
  type Command,
  type CommandContext,
  checkOptions,
  isUnexpected,
  print,
  tell,
} from './commands/command.ts';
import { exitStatuses, familyOf, listCommands } from './commands/families.ts';
import { endCommand, setLastResort } from './commands/serve/last-resort.ts';
import { explain } from './commands/terminal/explain.ts';
import { suggest } from './commands/terminal/suggest.ts';
import { platformSettings } from './config/platform-config.ts';
import { settings } from './config/settings.ts';
import { parseConfig } from './config/config.ts';
import { withEnvFile } from './config/env-file.ts';
import { UsageError } from './errors.ts';
import { createLog } from './log/log.ts';
import { platforms } from './platforms/registry.ts';
import { commit, version } from './version.ts';

// Commands that run until stopped replace this with one that logs.
setLastResort({ report: (error) => void explain(error) });
process.stdout.on('error', (error) => {
  if (isUnexpected(error)) throw error;
});
endCommand(await main(process.argv.slice(2)).catch(explain));

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
    platforms.map((platform) => platform.settings),
  );
  const log = createLog(config.logLevel);
  return command.run({
    config,
    log,
    options: values as CommandContext['options'],
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
    checkOptions(command, parsed.values as CommandContext['options']);
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
    ...wrapped(
      `${settingNames().join(', ')}, and OpenTelemetry's for traces; "retention doctor" shows their values.`,
    ),
    `Exit status: ${exitStatuses}.`,
  ].join('\n');
}

function settingNames(): string[] {
  const all = [
    ...Object.values(settings),
    ...platforms.map((platform) => platformSettings(platform.settings)),
  ];
  return all.flatMap(Object.keys);
}

/** Lines of at most 100 characters. */
function wrapped(text: string): string[] {
  return text.match(/\S.{0,99}(?= |$)/g) ?? [];
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
