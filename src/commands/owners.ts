import { resetFactors } from '../accounts/factors/factors.ts';
import { type NewOwnerLink, inviteOwner, resetPassword } from '../accounts/links.ts';
import { isEmail, normaliseEmail } from '../accounts/sign-in.ts';
import { systemClock } from '../clock.ts';
import { urlOf } from '../config/config.ts';
import { CommandError, UsageError } from '../errors.ts';
import { openMailer } from '../mail/mailer.ts';
import { factorLetter } from '../owner/account/letters.ts';
import { factorsPath } from '../owner/factors/proof.ts';
import type { Sql } from '../store/database.ts';
import type { Store } from '../store/open.ts';
import { appendEntry } from '../store/owners/audit.ts';
import { deleteMembership, findOwnerByEmail, listOwners } from '../store/owners/owners.ts';
import { findServiceAddress } from '../store/owners/owners.ts';
import {
  type Context,
  type Value,
  defineCommand,
  exitStatus,
  jsonFlag,
  required,
} from './framework/command.ts';
import { print, printJson, tell, table } from './framework/io.ts';
import { shopOption, withShop, withStore } from './store.ts';

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
  const url = (await rootOf(config, sql)) + link.path;
  if (json) return printJson(io, { email, url, expiresAt: link.expiresAt });
  print(io, url);
  const life = link.hours === 1 ? 'an hour' : `${link.hours} hours`;
  tell(io, `For ${email}. It works once, for ${life}; anyone who has it can sign in.`);
}

/** Without BASE_URL, the address of the server; if there never was one, that of one with these settings. */
async function rootOf({ baseUrl, host, port }: Context['config'], sql: Sql): Promise<string> {
  return baseUrl ?? (await findServiceAddress(sql)) ?? urlOf(host, port);
}

const invite = defineCommand({
  name: 'owners invite',
  acts: ['owner_invited'],
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
  acts: ['reset_link_made'],
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

const resetOwnersFactors = defineCommand({
  name: 'owners reset-factors',
  acts: ['factors_reset'],
  about: 'removes the second factors of an owner who has lost them, and ends all sessions',
  options: emailOption,
  run: ({ email }, context) =>
    withStore(context, async ({ write: sql }) => {
      const { config, io, actor } = context;
      const owner = await findOwnerByEmail(sql, email);
      if (!owner) throw new CommandError(`There is no owner with the address ${email}.`);
      const factors = await resetFactors({ sql, clock: systemClock }, owner.ownerId, actor);
      const { mail } = config;
      if (mail && factors > 0) {
        const root = await rootOf(config, sql);
        const mailer = await openMailer(mail, new URL(root).hostname);
        await mailer
          .send(factorLetter(email, 'reset', '', root + factorsPath))
          .catch(() => tell(io, `${email} could not be told by mail.`))
          .finally(() => mailer.close());
      }
      return { email, factors };
    }),
  show: ({ email, factors }) =>
    factors === 0
      ? `${email} has no second factor.`
      : `${email} signs in with the password alone, until a new second factor is set up. Removed: ${factors}.`,
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
  acts: ['owner_removed'],
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

export const ownerCommands = [invite, reset, resetOwnersFactors, list, remove];
