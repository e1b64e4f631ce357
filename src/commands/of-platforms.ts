import { systemClock } from '../clock.ts';
import type { Platform, ShopCommand } from '../platforms/platform.ts';
import { requireSynchronousCommit } from '../store/failover.ts';
import {
  type Command,
  type Context,
  defineCommand,
  exitStatus,
  id,
  required,
} from './framework/command.ts';
import { aligned, printJson } from './framework/io.ts';
import { awaitRefusal, shopOption, withShop } from './store.ts';

/** The commands that only this platform has. */
export async function commandsOf({ name, loadCommands }: Platform): Promise<readonly Command[]> {
  return ((await loadCommands?.()) ?? []).map((each) => commandOf(name, each));
}

const customerOption = { customer: required({ ...id, hint: 'N' }, 'the id of the customer') };

function commandOf(platform: string, command: ShopCommand): Command {
  const { about, notes = [], isOfCustomer, show } = command;
  const described = { name: `${platform} ${command.name}`, about, notes };
  const options = { ...shopOption, ...(isOfCustomer && customerOption) };
  const run = (given: { readonly shop: number; readonly customer?: number }, context: Context) =>
    runOf(command, given, context);
  if (show) {
    return defineCommand({
      ...described,
      options,
      run,
      show(result) {
        const shown = show(result);
        return typeof shown === 'string' ? shown : aligned(shown);
      },
    });
  }
  return defineCommand({
    ...described,
    options,
    async run(given, context) {
      printJson(context.io, await run(given, context));
      return exitStatus.done;
    },
  });
}

const runOf = (
  command: ShopCommand,
  { shop: shopId, customer = 0 }: { readonly shop: number; readonly customer?: number },
  context: Context,
) =>
  withShop(context, shopId, ({ write: sql }, shop) =>
    command.run({
      sql,
      shop,
      customer,
      at: new Date(systemClock.now()),
      log: context.log,
      actor: context.actor,
      revoke(work) {
        const revoking = sql.begin(async (tx) => {
          await requireSynchronousCommit(tx);
          return work(tx);
        });
        return awaitRefusal(revoking, context, sql);
      },
    }),
  );
