import type { Command } from '../command.ts';

/** What may be typed, as a script needs it: the commands' own table, by what was typed before. */
export interface Grammar {
  readonly places: readonly Place[];
  readonly commands: readonly CommandOptions[];
}

interface Place {
  /** The words after `retention` that lead here; `help` leads to every command too. */
  readonly after: readonly string[];
  readonly choices: readonly Choice[];
}

export interface Choice {
  readonly word: string;
  readonly about: string;
}

interface CommandOptions {
  readonly name: string;
  readonly options: readonly Option[];
}

interface Option {
  readonly name: string;
  readonly takesValue: boolean;
}

export function grammarOf(commands: readonly Command[]): Grammar {
  const families = [...Map.groupBy(commands, ({ name }) => name.split(' ')[0] as string)];
  const first = families.map(([word, members]) => ({ word, about: aboutFamily(members) }));
  return {
    places: [
      { after: [''], choices: [...first, { word: 'help', about: 'explains a command' }] },
      { after: ['help'], choices: first },
      ...families
        .filter(([, members]) => members.some(({ name }) => name.includes(' ')))
        .map(([word, members]) => ({
          after: [word, `help ${word}`],
          choices: members.map(({ name, summary }) => ({ word: lastWord(name), about: summary })),
        })),
    ],
    commands: commands.map(({ name, options }) => ({
      name,
      options: [
        ...Object.entries(options).map(([option, { type }]) => ({
          name: option,
          takesValue: type === 'string',
        })),
        { name: 'help', takesValue: false },
      ],
    })),
  };
}

function aboutFamily(members: readonly Command[]): string {
  const [only] = members;
  if (only && !only.name.includes(' ')) return only.summary;
  return members.map(({ name }) => lastWord(name)).join(', ');
}

function lastWord(name: string): string {
  return name.slice(name.indexOf(' ') + 1);
}
