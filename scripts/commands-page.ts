import { PassThrough } from 'node:stream';
import { exitStatuses } from '../src/commands/main.ts';
import type { Command } from '../src/commands/framework/command.ts';
import { leavesOf, parserOf } from '../src/commands/framework/parser.ts';
import { processIo } from '../src/commands/serve/process-io.ts';
import { renderTable } from '../src/reference/introduction.ts';

/** The text of docs/commands.md. */
export function writeCommands(commands: readonly Command[]): string {
  // No terminal, whose width would decide where lines end.
  const io = { ...processIo, stdout: new PassThrough() };
  const parsers = leavesOf(parserOf(commands, io, async () => {}));
  return [
    '# Commands',
    '<!-- Written by "npm run generate" from the commands themselves, in src/commands. -->',
    'The program is `bin/retention` in a checkout, `npx retention` where the package is installed, and `retention` in the image. It explains itself: `retention help` lists the commands, `retention COMMAND --help` explains one or a group such as `keys`, and `retention --version` prints version and commit. With `retention completion bash` (or `zsh`, or `fish`), the shell completes commands, options and values.',
    'Commands find the data by the [settings](settings.md) and bring the schema up to date; `doctor` only reports. They also work while a server runs on the same data. Results go to standard output, everything else to standard error; commands with `--json` print a result for programs.',
    `Exit status: ${exitStatuses}.`,
    renderTable({
      head: ['Command', 'What it does'],
      rows: commands.map(({ name, about }) => [
        `[\`${name}\`](#${name.replaceAll(' ', '-')})`,
        about,
      ]),
    }),
    ...commands.map(({ name }, index) =>
      writeCommand(name, parsers[index]?.helpInformation() ?? ''),
    ),
  ].join('\n\n');
}

function writeCommand(name: string, help: string): string {
  const guides = new Set([...help.matchAll(/\bdocs\/([\w-]+\.md)/g)].map(([, file]) => file));
  return [
    `## ${name}`,
    `\`\`\`text\n${help.trimEnd()}\n\`\`\``,
    ...(guides.size === 0
      ? []
      : [`More in ${[...guides].map((file) => `[${file}](${file})`).join(', ')}.`]),
  ].join('\n\n');
}
