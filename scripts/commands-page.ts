import { exitStatuses } from '../src/commands/main.ts';
import type { Command } from '../src/commands/framework/command.ts';
import { usageOf } from '../src/commands/framework/parser.ts';

/** The text of docs/commands.md. What may be left out is explained by the program alone. */
export function writeCommands(commands: readonly Command[]): string {
  return [
    '# Commands',
    '<!-- Written by "npm run generate" from the commands themselves, in src/commands. -->',
    'The program is `bin/retention` in a checkout, `npx retention` where the package is installed, and `retention` in the image. Commands are listed with what each needs; `retention COMMAND --help` explains all of its options, or lists a group such as `keys`. `retention --version` prints version and commit.',
    'Commands find the data by the [settings](settings.md) and bring the schema up to date; `doctor` only reports. They also work while a server runs on the same data. Results go to standard output, everything else to standard error; `--json` prints the result as one JSON document.',
    `Exit status: ${exitStatuses}.`,
    commands.map(writeCommand).join('\n'),
  ].join('\n\n');
}

function writeCommand(command: Command): string {
  const { name, about, notes, options } = command;
  const help = [...notes, ...Object.values(options).map((option) => option.about)].join('\n');
  const guides = new Set([...help.matchAll(/\bdocs\/([\w/-]+\.md)/g)].map(([, file]) => file));
  const links = [...guides].map((file) => `[${file}](${file})`).join(', ');
  const needed = usageOf(command)
    .replaceAll(/ ?\[--[^\]]*\]/g, '')
    .trim();
  return `- \`${`${name} ${needed}`.trimEnd()}\` ${about}${links && ` (${links})`}`;
}
