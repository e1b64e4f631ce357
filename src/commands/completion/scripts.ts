import { type Choice, type Grammar, type Option, placesOf } from './grammar.ts';

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
