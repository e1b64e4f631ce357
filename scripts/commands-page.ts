import { exitStatuses } from '../src/commands/main.ts';
import type { Command } from '../src/commands/framework/command.ts';

/** The text of docs/commands.md: which commands there are. The program itself says what each does. */
export function writeCommands(commands: readonly Command[]): string {
  return [
    '# Commands',
    '<!-- Written by "npm run generate" from the commands themselves, in src/commands. -->',
    'The program is `bin/retention` in a checkout, `npx retention` where the package is installed, and `retention` in the image. `retention --help` says what each command does, and `retention COMMAND --help` explains its options. `retention --version` prints version and commit; `retention completion bash` (or `zsh`, or `fish`) sets up completion.',
    'Commands find the data by the [settings](settings.md) and bring the schema up to date; `doctor` only reports. They also work while a server runs on the same data. Results go to standard output, everything else to standard error; `--json` prints the result as one JSON document.',
    `Exit status: ${exitStatuses}.`,
    Object.entries(Object.groupBy(commands, ({ name }) => name.split(' ')[0] ?? name))
      .map(([family, members = []]) => writeFamily(family, members))
      .join('\n'),
  ].join('\n\n');
}

/** One line, with the guides that the help of its commands names. */
function writeFamily(family: string, members: readonly Command[]): string {
  const text =
    members.length > 1
      ? `\`${family}\`: ${members.map(({ name }) => `\`${name.slice(family.length + 1)}\``).join(', ')}`
      : members.map(({ name, about }) => `\`${name}\` ${about}`).join('');
  const help = members.flatMap(({ notes, options }) => [
    ...notes,
    ...Object.values(options).map((option) => option.about),
  ]);
  const guides = new Set(
    [...help.join('\n').matchAll(/\bdocs\/([\w/-]+\.md)/g)].map(([, file]) => file),
  );
  const links = [...guides].map((file) => `[${file}](${file})`).join(', ');
  return `- ${text}${links && ` (${links})`}`;
}
