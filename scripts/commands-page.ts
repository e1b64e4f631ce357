import type { Command } from '../src/commands/command.ts';
import { exitStatuses } from '../src/commands/families.ts';
import { renderTable } from '../src/reference/introduction.ts';

/** The text of docs/commands.md. */
export function writeCommands(commands: readonly Command[]): string {
  return [
    '# Commands',
    '<!-- Written by "npm run generate" from the commands themselves, in src/commands. -->',
    'The program is `bin/retention` in a checkout, `npx retention` where the package is installed, and `retention` in the image. It explains itself: `retention help` lists the commands, `retention COMMAND --help` explains one or a group such as `keys`, and `retention --version` prints version and commit. With `retention completion bash` (or `zsh`, or `fish`), the shell completes commands, options and values.',
    'Commands find the data by the [settings](settings.md) and bring the schema up to date; `doctor` only reports. They also work while a server runs on the same data. Results go to standard output, everything else to standard error; commands with `--json` print a result for programs.',
    `Exit status: ${exitStatuses}.`,
    renderTable({
      head: ['Command', 'What it does'],
      rows: commands.map(({ name, summary }) => [
        `[\`${name}\`](#${name.replaceAll(' ', '-')})`,
        summary,
      ]),
    }),
    ...commands.map(writeCommand),
  ].join('\n\n');
}

function writeCommand({ name, synopsis, summary, details = [], values = {} }: Command): string {
  const help = [`retention ${name} ${synopsis}`.trim(), ...(details.length > 0 ? [''] : [])];
  const explained = details.join('\n');
  const choices = Object.entries(values)
    .filter(([, words]) => !words.every((word) => explained.includes(word)))
    .map(([place, words]) => {
      const argument = place.startsWith('--') ? place : synopsis.split(' ')[Number(place) - 1];
      return `\`${argument}\` is one of ${words.map((word) => `\`${word}\``).join(', ')}.`;
    });
  const guides = new Set([...explained.matchAll(/\bdocs\/([\w-]+\.md)/g)].map(([, file]) => file));
  return [
    `## ${name}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    `\`\`\`text\n${[...help, ...details].join('\n')}\n\`\`\``,
    ...choices,
    ...(guides.size === 0
      ? []
      : [`More in ${[...guides].map((file) => `[${file}](${file})`).join(', ')}.`]),
  ].join('\n\n');
}
