import { type NewOwnerLink, inviteOwner, resetPassword } from '../accounts/links.ts';
import { isEmail, normaliseEmail } from '../accounts/sign-in.ts';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { Store } from '../store/open.ts';
import { appendEntry } from '../store/owners/audit.ts';
import { deleteMembership, listOwners } from '../store/owners/owners.ts';
import {
  type Context,
  type Value,
  defineCommand,
  exitStatus,
  jsonFlag,
  required,
} from './framework/command.ts';
import { print, printJson, tell, table } from './framework/io.ts';
import { serviceUrl, shopOption, withShop, withStore } from './store.ts';

const address: Value<string> = {
  hint: 'ADDRESS',
  read(typed, name) {
    const email = normaliseEmail(typed);
    if (isEmail(email)) return email;
    throw new UsageError(`${name} must be an address such as ana@example.com, not "${email}".`);
  },
};

const emailOption = { email: required(address, 'the address with which the owner signs in') };

interface Sent {
  readonly email: string;
  readonly link: NewOwnerLink;
  readonly json: boolean;
}

async function printLink(
  { config, io }: Context,
  { write: sql }: Store,
  { email, link, json }: Sent,
): Promise<void> {
  const url = (await serviceUrl(config, sql)) + link.path;
  if (json) return printJson(io, { email, url, expiresAt: link.expiresAt });
  print(io, url);
  const life = link.hours === 1 ? 'an hour' : `${link.hours} hours`;
  tell(io, `For ${email}. It works once, for ${life}; anyone who has it can sign in.`);
}

const invite = defineCommand({
  name: 'owners invite',
  about: "prints a one-time link that gives someone access to a shop's pages",
  options: { ...shopOption, ...emailOption, json: jsonFlag },
  async run({ shop, email, json }, context) {
    await withShop(context, shop, async (store) => {
      const link = await inviteOwner(
        store.write,
        systemClock,
        { shopId: shop, email },
        context.actor,
      );
      await printLink(context, store, { email, link, json });
    });
    return exitStatus.done;
  },
});

const reset = defineCommand({
  name: 'owners reset',
  about: 'prints a one-time link that replaces a forgotten password',
  options: { ...emailOption, json: jsonFlag },
  async run({ email, json }, context) {
    await withStore(context, async (store) => {
      const link = await resetPassword(store.write, systemClock, email, context.actor);
      if (!link) throw new CommandError(`There is no owner with the address ${email}.`);
      await printLink(context, store, { email, link, json });
    });
    return exitStatus.done;
  },
});

const list = defineCommand({
  name: 'owners list',
  about: 'lists the owners of a shop, who can open its pages',
  options: shopOption,
  async run({ shop }, context) {
    const owners = await withShop(context, shop, (store) => listOwners(store.write, shop));
    return owners.map(({ email, since }) => ({ email, since }));
  },
  show: (owners) => table(owners, { EMAIL: ({ email }) => email, SINCE: ({ since }) => since }),
});

const remove = defineCommand({
  name: 'owners remove',
  about: "removes an owner's access to a shop, from the next page they open",
  options: { ...shopOption, ...emailOption },
  run: ({ shop, email }, context) =>
    withShop(context, shop, async (store) => {
      const at = new Date(systemClock.now());
      const isRemoved = await deleteMembership(store.write, email, shop, (tx, ownerId) =>
        appendEntry(tx, shop, {
          at,
          by: context.actor,
          what: 'owner_removed',
          target: `owner ${ownerId}`,
        }),
      );
      if (!isRemoved) {
        throw new CommandError(
          `${email} is not an owner of shop ${shop}; "retention owners list" lists its owners.`,
        );
      }
      return { shop, email, state: 'removed' };
    }),
  show: ({ shop, email }) => `${email} is no longer an owner of shop ${shop}.`,
});

export const ownerCommands = [invite, reset, list, remove];
