import { type Command, defineCommand, exitStatus } from '../framework/command.ts';
import { print } from '../framework/io.ts';
import { grammarOf } from './grammar.ts';
import { scripts } from './scripts.ts';

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
      about: `prints a script by which ${shell} completes commands and options`,
      notes: [loading[shell] as string],
      async run(_, { io }) {
        print(io, write(grammarOf(await listCommands())));
        return exitStatus.done;
      },
    }),
  );
}
