import { Help, Option, Command as Parser } from 'commander';
import { UsageError } from '../../errors.ts';
import { redact } from '../../log/log.ts';
import type { Command, Parameter } from './command.ts';
import { type Io, tell } from './io.ts';

/** The values that were typed for each option and argument, by its name in the declaration. */
type Typed = Readonly<Record<string, readonly string[]>>;

/** Runs a command with what its options and arguments say. */
type Perform = (command: Command, given: Readonly<Record<string, unknown>>) => Promise<void>;

/** @param commands all, or those of one family, which have the first word in common */
export function parserOf(commands: readonly Command[], io: Io, perform: Perform): Parser {
  const root = groupOf('retention', io).showHelpAfterError('"retention help" lists all commands.');
  for (const [first, members] of Map.groupBy(commands, ({ name }) => firstWord(name))) {
    const [only] = members;
    if (only?.name === first) {
      root.addCommand(parserOfCommand(only, root, perform));
      continue;
    }
    const words = members.map(({ name }) => lastWord(name));
    const group = groupOf(first, io)
      .showHelpAfterError(`"retention ${first}" needs one of: ${words.join(', ')}.`)
      .addHelpText('after', `\n"retention ${first} COMMAND --help" explains a command.`);
    for (const member of members) group.addCommand(parserOfCommand(member, group, perform));
    root.addCommand(group);
  }
  return root;
}

/**
 * What was typed, without what the parser would take in another way than it was meant: it takes an option for the value
 * of the one before.
 * @throws UsageError
 */
export function unambiguous(command: Command, words: readonly string[]): string[] {
  const end = words.indexOf('--');
  const typed = end === -1 ? words : words.slice(0, end);
  if (typed.some((word) => word === '--help' || word === '-h')) {
    return [...command.name.split(' '), '--help'];
  }
  const options = new Map(
    Object.entries(command.options).map(([name, option]) => [optionName(name), option]),
  );
  const checked = typed.map((word, index) => {
    const [name = ''] = word.split('=', 1);
    const hasValue = name !== word;
    const option = options.get(name);
    // An unknown option is named in an error, without its value, which may be a secret.
    if (!option) return word.startsWith('--') ? name : word;
    if (hasValue && !option.value) throw new UsageError(`${name} takes no value.`);
    if (!hasValue && option.value && /^-\D/.test(words[index + 1] ?? '')) {
      throw new UsageError(
        `${name} needs a value. One that begins with a dash is given as ${name}=VALUE.`,
      );
    }
    return word;
  });
  return [...checked, ...words.slice(typed.length)];
}

/** A parser with the settings that all have in common. */
function groupOf(name: string, io: Io): Parser {
  const { columns = 100 } = io.stdout;
  return new Parser(name)
    .usage('COMMAND [OPTIONS]')
    .exitOverride()
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => tell(io, redact(text.replace(/\n$/, ''))),
      outputError: (text, write) => write(asSentence(text)),
      getOutHelpWidth: () => columns,
      getErrHelpWidth: () => columns,
    })
    .configureHelp({
      optionTerm: ({ flags }) => flags.replace(/[<>]/g, ''),
      // Only the help lists the commands of groups; suggestions come from the words at one place.
      formatHelp: (parser, help) =>
        Help.prototype.formatHelp.call(
          Object.assign(help, {
            visibleCommands: leavesOf,
            subcommandTerm: fullName,
            visibleOptions: ({ options }: Parser) => options,
          }),
          parser,
          help,
        ),
    });
}

/** The parser's errors are fragments in lower case; the first line becomes a sentence, as in other errors. */
function asSentence(text: string): string {
  return text.replace(
    /^error: (.)(.*?)\.?$/m,
    (_, first: string, rest: string) => `retention: ${first.toUpperCase()}${rest}.`,
  );
}

/** The parsers of commands, in the order of the commands. */
function leavesOf(parser: Parser): Parser[] {
  return parser.commands.flatMap((each) => (each.commands.length > 0 ? leavesOf(each) : [each]));
}

function fullName(parser: Parser): string {
  const { parent } = parser;
  return parent?.parent ? `${parent.name()} ${parser.name()}` : parser.name();
}

function parserOfCommand(command: Command, parent: Parser, perform: Perform): Parser {
  const { notes } = command;
  const parser = new Parser(lastWord(command.name))
    .copyInheritedSettings(parent)
    .summary(command.about)
    .description([command.about, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n'))
    // Without a text, commander would write one of its own.
    .usage(usageOf(command) || '[--help]')
    .showHelpAfterError(`Usage: retention ${command.name} ${usageOf(command)}`.trimEnd());
  for (const argument of Object.values(command.arguments)) {
    const { value, isList } = argument;
    // Whether one is missing is checked below, with the options.
    parser.argument(`[${value?.hint}${isList ? '...' : ''}]`, explained(argument));
  }
  for (const [name, option] of Object.entries(command.options)) {
    parser.addOption(optionOf(name, option));
  }
  const positional = Object.keys(command.arguments);
  return parser.action(async (...words: unknown[]) => {
    const all = [
      ...Object.entries(parser.opts()),
      ...positional.map((name, index) => [name, words[index]] as const),
    ];
    // A switch is true; an argument that was not given, undefined.
    const typed = all.map(([name, value]) => [name, [value ?? []].flat().map(String)] as const);
    await perform(command, read(command, Object.fromEntries(typed), parser));
  });
}

function optionOf(name: string, parameter: Parameter<unknown>): Option {
  const { value } = parameter;
  const flags = optionName(name) + (value ? ` <${value.hint}>` : '');
  // All values that were typed, so that an option that is given twice can be refused.
  return new Option(flags, explained(parameter)).argParser(
    (text, before: readonly string[] = []) => [...before, text],
  );
}

function explained({ value, about, fallback }: Parameter<unknown>): string {
  const { choices = [] } = value ?? {};
  return [
    about,
    ...(choices.length > 0 ? [`: ${choices.join(', ')}`] : []),
    ...(fallback === undefined ? [] : [` (${fallback})`]),
  ].join('');
}

/** Reads what was typed, or ends with an error that names everything that is missing. */
function read(command: Command, typed: Typed, parser: Parser): Readonly<Record<string, unknown>> {
  const all = [
    ...Object.entries(command.options).map(
      ([name, each]) => [name, optionName(name), each] as const,
    ),
    ...Object.entries(command.arguments).map(
      ([name, each]) => [name, String(each.value?.hint), each] as const,
    ),
  ];
  const missing = all.filter(
    ([name, , { isRequired }]) =>
      isRequired && (typed[name] ?? []).every((text) => text.trim() === ''),
  );
  if (missing.length > 0) {
    const names = new Intl.ListFormat('en-GB').format(missing.map(([, shown]) => shown));
    parser.error(`error: ${names} ${missing.length === 1 ? 'is' : 'are'} missing.`);
  }
  return Object.fromEntries(
    all.map(([name, shown, parameter]) => {
      const texts = typed[name] ?? [];
      if (texts.length > 1 && !parameter.isList) {
        parser.error(`error: ${shown} is given twice; give it once.`);
      }
      return [name, parameter.read(texts, shown)];
    }),
  );
}

/** Options that a command cannot do without, then the others in brackets, then arguments. */
export function usageOf({ options, arguments: positional }: Command): string {
  const all = Object.entries(options);
  const word = ([name, { value }]: (typeof all)[number]) =>
    optionName(name) + (value ? ` ${value.hint}` : '');
  return [
    ...all.filter(([, { isRequired }]) => isRequired).map(word),
    ...all.filter(([, { isRequired }]) => !isRequired).map((each) => `[${word(each)}]`),
    ...Object.values(positional).map(({ value, isList }) => `${value?.hint}${isList ? '…' : ''}`),
  ].join(' ');
}

/** As it is typed: `--expires-in` for `expiresIn`. */
export function optionName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function firstWord(name: string): string {
  return name.split(' ', 1)[0] as string;
}

export function lastWord(name: string): string {
  return name.slice(name.indexOf(' ') + 1);
}
