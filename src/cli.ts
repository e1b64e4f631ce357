import { explain } from './commands/framework/command.ts';
import { isUnexpected } from './commands/framework/io.ts';
import { main } from './commands/main.ts';
import { endCommand, setLastResort } from './commands/serve/last-resort.ts';
import { processIo } from './commands/serve/process-io.ts';

// Commands that run until stopped replace this with one that logs.
setLastResort({ report: (error) => void explain(error, processIo) });
process.stdout.on('error', (error) => {
  if (isUnexpected(error)) throw error;
});
// What cannot be said (a full disk, EPIPE) changes nothing of what is done, nor the exit status.
process.stderr.on('error', () => {});
endCommand(await main(process.argv.slice(2), processIo));
