import { type Command, defineCommand, exitStatus } from './framework/command.ts';
import { print } from './framework/io.ts';
import { lastWord, optionName } from './framework/parser.ts';

/** How a shell loads the script at each start. */
const loading: Readonly<Record<keyof typeof scripts, string>> = {
  bash: 'Add to ~/.bashrc:  eval "$(retention completion bash)"',
  zsh: 'Add to ~/.zshrc, after compinit:  eval "$(retention completion zsh)"',
  fish: 'Add to ~/.config/fish/config.fish:  retention completion fish | source',
};

/** @param listCommands every command, these included */
export function completionCommands(listCommands: () => Promise<readonly Command[]>): Command[] {
  return Object.entries(scripts).map(([shell, write]) =>
    defineCommand({
      name: `completion ${shell}`,
      about: `prints a script of completions for ${shell}`,
      notes: [loading[shell] as string],
      async run(_, { io }) {
        print(io, write(grammarOf(await listCommands())));
        return exitStatus.done;
      },
    }),
  );
}

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

/**
 * A script for each shell. All do the same: where commands are expected they offer commands, for a word
 * that begins with a dash the command's options, where there is a choice of values these, and otherwise files.
 */
export const scripts: Readonly<Record<string, (grammar: Grammar) => string>> = {
  bash: (grammar) => `# Completes the commands and options of retention in bash.
_retention() {
  # Not from COMP_WORDS, which is split at colons.
  local -a words
  read -ra words <<< "\${COMP_LINE:0:COMP_POINT}."
  local last=$((\${#words[@]} - 1)) choices=
  local word=\${words[last]%.} before="\${words[*]:1:last-1}"
  if [[ $word == -* ]]; then
    case "$before " in
${optionCases(grammar, (names) => `choices=${quoted(names.join(' '))}`)}
    esac
  else
    case $before in
${placeCases(grammar, (choices) => `choices=${quoted(choices.map(({ word }) => word).join(' '))}`)}
    esac
  fi
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
  # Only what follows the last colon is replaced.
  if [[ $COMP_WORDBREAKS == *:* ]]; then COMPREPLY=("\${COMPREPLY[@]#"\${word%"\${word##*:}"}"}"); fi
}
complete -o default -F _retention retention`,

  zsh: (grammar) => `#compdef retention
# Completes the commands and options of retention in zsh.
_retention() {
  local before="\${(j: :)words[2,CURRENT-1]}"
  local -a choices
  if [[ \${words[CURRENT]} == -* ]]; then
    case "$before " in
${optionCases(grammar, (names) => `choices=(${names.join(' ')})`)}
    esac
    _describe option choices
  else
    case $before in
${placeCases(grammar, (choices) => `choices=(${choices.map(zshChoice).join(' ')})`)}
    esac
    if (( $#choices )); then _describe command choices; else _files; fi
  fi
}
compdef _retention retention
# As a file in fpath, this is the function's first call.
if [[ \${funcstack[1]} == _retention ]]; then _retention; fi`,

  fish: ({ places, commands }) => `# Completes the commands and options of retention in fish.
function __retention_before
  set -l words (commandline -opc)
  string join ' ' -- $words[2..]
end
function __retention_at
  for pattern in $argv
    if string match --quiet -- "$pattern" "$(__retention_before)"
      return 0
    end
  end
  return 1
end
function __retention_in
  string match --quiet -- "$argv[1] *" "$(__retention_before) "
end
${places
  .flatMap(({ after, choices }) =>
    choices.map(
      ({ word, about }) =>
        `complete -c retention -f -n ${fishQuoted(`__retention_at ${after.map(fishQuoted).join(' ')}`)} -a ${word}${about && ` -d ${fishQuoted(about)}`}`,
    ),
  )
  .join('\n')}
${commands
  .flatMap(({ name, options }) =>
    options.map(
      (option) =>
        `complete -c retention -n ${fishQuoted(`__retention_in ${fishQuoted(name)}`)} -l ${option.name.slice(2)}${fishValue(option)}`,
    ),
  )
  .join('\n')}
complete -c retention -n '__retention_at ""' -l help -d 'lists all commands'
complete -c retention -n '__retention_at ""' -l version -d 'prints the version'`,
};

/** Cases for bash and zsh, by the words before the one to complete. */
function placeCases(grammar: Grammar, assign: (choices: readonly Choice[]) => string): string {
  return placesOf(grammar)
    .map(({ after, choices }) => `      ${after.map(pattern).join('|')}) ${assign(choices)} ;;`)
    .join('\n');
}

/** The same for options; the words before end with a space. */
function optionCases({ commands }: Grammar, assign: (names: readonly string[]) => string): string {
  const cases = commands.map(({ name, options }) => {
    const names = options.map((option) => option.name);
    return `      ${quoted(`${name} `)}*) ${assign(names)} ;;`;
  });
  return [`      ' ') ${assign(['--help', '--version'])} ;;`, ...cases].join('\n');
}

/** Quotes all but the signs that stand for anything. */
function pattern(text: string): string {
  return text.replace(/[^*?]+/g, quoted) || "''";
}

function zshChoice({ word, about }: Choice): string {
  return quoted([word.replaceAll(':', String.raw`\:`), about].filter(Boolean).join(':'));
}

function fishValue({ takesValue, values }: Option): string {
  if (values.length > 0) return ` -x -a ${fishQuoted(values.join(' '))}`;
  return takesValue ? ' -r' : '';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, String.raw`\$&`)}'`;
}
