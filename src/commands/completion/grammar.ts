import type { Command } from '../framework/command.ts';
import { lastWord, optionName } from '../framework/parser.ts';

/** What may be typed, as a script needs it: the commands' own table, by what was typed before. */
export interface Grammar {
  readonly places: readonly Place[];
  readonly commands: readonly CommandOptions[];
}

interface Place {
  /**
   * The words after `retention` that lead here, as the pattern of a shell: `?*` is any word. `help` leads to
   * every command too.
   */
  readonly after: readonly string[];
  readonly choices: readonly Choice[];
}

export interface Choice {
  readonly word: string;
  /** Empty for a value. */
  readonly about: string;
}

interface CommandOptions {
  readonly name: string;
  readonly options: readonly Option[];
}

export interface Option {
  readonly name: string;
  readonly takesValue: boolean;
  readonly values: readonly string[];
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
          choices: members.map(({ name, about }) => ({ word: lastWord(name), about })),
        })),
      ...commands.flatMap(({ name, arguments: positional }) =>
        Object.values(positional)
          .map(({ value }, index) => ({
            after: [name + ' ?*'.repeat(index)],
            choices: choicesOf(value?.choices ?? []),
          }))
          .filter(({ choices }) => choices.length > 0),
      ),
    ],
    commands: commands.map(({ name, options }) => ({
      name,
      options: [
        ...Object.entries(options).map(([option, { value }]) => ({
          name: optionName(option),
          takesValue: value !== undefined,
          values: value?.choices ?? [],
        })),
        { name: '--help', takesValue: false, values: [] },
      ],
    })),
  };
}

/** The grammar's places, and those behind options that take one of some values. */
export function placesOf({ places, commands }: Grammar): Place[] {
  return [
    ...places,
    ...commands.flatMap(({ name: command, options }) =>
      options
        .filter(({ values }) => values.length > 0)
        .map(({ name, values }) => ({
          after: [`${command} *${name}`],
          choices: choicesOf(values),
        })),
    ),
  ];
}

function choicesOf(words: readonly string[]): Choice[] {
  return words.map((word) => ({ word, about: '' }));
}

function aboutFamily(members: readonly Command[]): string {
  const [only] = members;
  if (only && !only.name.includes(' ')) return only.about;
  return members.map(({ name }) => lastWord(name)).join(', ');
}
