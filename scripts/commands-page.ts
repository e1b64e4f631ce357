import { PassThrough } from 'node:stream';
import { exitStatuses } from '../src/commands/main.ts';
import type { Command } from '../src/commands/framework/command.ts';
import { leavesOf, parserOf } from '../src/commands/framework/parser.ts';
import { processIo } from '../src/commands/serve/process-io.ts';

/** The text of docs/commands.md. */
export function writeCommands(commands: readonly Command[]): string {
  // No terminal, whose width would decide where lines end.
  const io = { ...processIo, stdout: new PassThrough() };
  const parsers = leavesOf(parserOf(commands, io, async () => {}));
  return [
    '# Commands',
    '<!-- Written by "npm run generate" from the commands themselves, in src/commands. -->',
    'The program is `bin/retention` in a checkout, `npx retention` where the package is installed, and `retention` in the image. It explains itself: `retention help` lists the commands, `retention COMMAND --help` explains one or a group such as `keys`, and `retention --version` prints version and commit. With `retention completion bash` (or `zsh`, or `fish`), the shell completes commands, options and values.',
    'Commands find the data by the [settings](settings.md) and bring the schema up to date; `doctor` only reports. They also work while a server runs on the same data. Results go to standard output, everything else to standard error; commands with `--json` print the result as one JSON document. `--shop ID` is the id of a shop, `--email ADDRESS` the address with which its owner signs in.',
    `Exit status: ${exitStatuses}.`,
    linkFamilies(commands),
    ...commands.map(({ name }, index) =>
      writeCommand(name, parsers[index]?.helpInformation() ?? ''),
    ),
  ].join('\n\n');
}

/** Links to the first command of each family, such as `keys`. */
function linkFamilies(commands: readonly Command[]): string {
  const families = Map.groupBy(commands, ({ name }) => name.replace(/ .*/, ''));
  return [...families]
    .map(([family, [first]]) => `[\`${family}\`](#${first?.name.replaceAll(' ', '-')})`)
    .join(' · ');
}

function writeCommand(name: string, help: string): string {
  const guides = new Set([...help.matchAll(/\bdocs\/([\w-]+\.md)/g)].map(([, file]) => file));
  return [
    `## ${name}`,
    `\`\`\`text\n${withoutCommonOptions(help)}\n\`\`\``,
    ...(guides.size === 0
      ? []
      : [`More in ${[...guides].map((file) => `[${file}](${file})`).join(', ')}.`]),
  ].join('\n\n');
}

/** Help without the options that mean the same for all commands. */
function withoutCommonOptions(help: string): string {
  return help
    .replace(
      /^ {2}--(?:json {2,}prints the result as one JSON document|shop ID {2,}the id of the shop|email ADDRESS {2,}the address with which the owner signs in)\n/gm,
      '',
    )
    .replace(/^Options:\n(?=\n|$)/m, '')
    .trimEnd();
}
