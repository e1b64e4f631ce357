import { systemClock } from '../clock.ts';
import { urlOf } from '../config/config.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type NewOwnerLink, inviteOwner, resetPassword } from '../accounts/links.ts';
import { normaliseEmail } from '../accounts/sign-in.ts';
import type { Store } from '../store/open.ts';
import { findServiceAddress } from '../store/owners/service-address.ts';
import { deleteMembership, listOwners } from '../store/owners/owners.ts';
import {
  type Command,
  type CommandContext,
  exitStatus,
  formatTable,
  print,
  printDone,
  printJson,
  requiredOption,
  tell,
  withStore,
} from './command.ts';
import { withShop } from './keys.ts';

function parseEmail(context: CommandContext): string {
  const email = normaliseEmail(requiredOption(context, 'email'));
  if (!/^[^\s\p{C}@]+@[^\s\p{C}@]+$/u.test(email) || email.length > 254) {
    throw new UsageError(`--email must be an address such as ana@example.com, not "${email}".`);
  }
  return email;
}

async function printLink(
  context: CommandContext,
  store: Store,
  { email, link }: { readonly email: string; readonly link: NewOwnerLink },
): Promise<void> {
  const { baseUrl, host, port } = context.config;
  // Without BASE_URL, the address of the server; if there never was one, that of one with these settings.
  const address = baseUrl ?? (await findServiceAddress(store.write)) ?? urlOf(host, port);
  const url = address + link.path;
  if (context.options['json']) return printJson({ email, url, expiresAt: link.expiresAt });
  print(url);
  const life = link.hours === 1 ? 'an hour' : `${link.hours} hours`;
  tell(`For ${email}. It works once, for ${life}; anyone who has it can sign in.`);
}

const invite: Command = {
  name: 'owners invite',
  synopsis: '--shop ID --email ADDRESS [--json]',
  summary: "prints a one-time link that gives someone access to a shop's pages",
  options: { shop: { type: 'string' }, email: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const email = parseEmail(context);
    await withShop(context, async (store, shop) => {
      const link = await inviteOwner(store.write, systemClock, { shopId: shop.id, email });
      await printLink(context, store, { email, link });
    });
    return exitStatus.done;
  },
};

const reset: Command = {
  name: 'owners reset',
  synopsis: '--email ADDRESS [--json]',
  summary: 'prints a one-time link that replaces a forgotten password',
  options: { email: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const email = parseEmail(context);
    await withStore(context.config, async (store) => {
      const link = await resetPassword(store.write, systemClock, email);
      if (!link) throw new CommandError(`There is no owner with the address ${email}.`);
      await printLink(context, store, { email, link });
    });
    return exitStatus.done;
  },
};

const list: Command = {
  name: 'owners list',
  synopsis: '--shop ID [--json]',
  summary: 'lists the owners of a shop, who can open its pages',
  options: { shop: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const owners = await withShop(context, (store, shop) => listOwners(store.write, shop.id));
    if (context.options['json']) {
      printJson(owners.map(({ email, since }) => ({ email, since })));
      return exitStatus.done;
    }
    const rows = owners.map(({ email, since }) => [email, since.toISOString()]);
    print(formatTable(['EMAIL', 'SINCE'], rows));
    return exitStatus.done;
  },
};

const remove: Command = {
  name: 'owners remove',
  synopsis: '--shop ID --email ADDRESS [--json]',
  summary: "removes an owner's access to a shop, from the next page they open",
  options: { shop: { type: 'string' }, email: { type: 'string' }, json: { type: 'boolean' } },
  async run(context) {
    const email = parseEmail(context);
    await withShop(context, async (store, shop) => {
      if (!(await deleteMembership(store.write, email, shop.id))) {
        throw new CommandError(
          `${email} is not an owner of shop ${shop.id}; "retention owners list" lists its owners.`,
        );
      }
      const document = { shop: shop.id, email, state: 'removed' };
      printDone(context, document, `${email} is no longer an owner of shop ${shop.id}.`);
    });
    return exitStatus.done;
  },
};

export const ownerCommands = [invite, reset, list, remove];
