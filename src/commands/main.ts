import { CommanderError } from 'commander';
import { parseConfig } from '../config/config.ts';
import { platformSettings } from '../config/platform-config.ts';
import { settings } from '../config/settings.ts';
import { platforms } from '../platforms/registry.ts';
import { commit, version } from '../version.ts';
import { exitStatuses, familyOf, listCommands } from './families.ts';
import { exitStatus } from './framework/command.ts';
import { explain } from './framework/explain.ts';
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
      status = await command.run(given, { config, log, io });
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
