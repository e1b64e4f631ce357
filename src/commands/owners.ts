import { resetFactors } from '../accounts/factors/factors.ts';
import { type NewOwnerLink, inviteOwner, resetPassword } from '../accounts/links.ts';
import { TeamRefusal, endMembership, setRole } from '../accounts/team.ts';
import { isEmail, normaliseEmail } from '../accounts/sign-in.ts';
import { systemClock } from '../clock.ts';
import { CommandError, UsageError } from '../errors.ts';
import { openMailer } from '../mail/mailer.ts';
import { factorLetter } from '../owner/account/letters.ts';
import { factorsPath } from '../owner/factors/proof.ts';
import type { Store } from '../store/open.ts';
import { findOwnerByEmail, listMembers } from '../store/owners/owners.ts';
import { roles } from '../vocabulary.ts';
import {
  type Context,
  type Value,
  defineCommand,
  exitStatus,
  jsonFlag,
  oneOf,
  required,
  withDefault,
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
const role = oneOf('ROLE', roles);

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
  acts: ['owner_invited'],
  about: "prints a one-time link that gives someone access to a shop's pages",
  options: {
    ...shopOption,
    ...emailOption,
    role: withDefault(role, 'owner', 'what they may do, unless they are a member already'),
    json: jsonFlag,
  },
  async run({ shop, email, role: their, json }, context) {
    await withShop(context, shop, async (store) => {
      const invitation = { shopId: shop, email, role: their };
      const link = await inviteOwner(store.write, systemClock, invitation, context.actor);
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
        const root = await serviceUrl(config, sql);
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
  about: 'lists the members of a shop, who can open its pages',
  options: shopOption,
  async run({ shop }, context) {
    const members = await withShop(context, shop, (store) => listMembers(store.write, shop));
    return members.map(({ email, name, role: their, since }) => ({
      email,
      name,
      role: their,
      since,
    }));
  },
  show: (members) =>
    table(members, {
      EMAIL: ({ email }) => email,
      NAME: ({ name }) => name,
      ROLE: ({ role: their }) => their,
      SINCE: ({ since }) => since,
    }),
});

/** Changes the membership of the owner with an address. */
async function change(
  context: Context,
  { shop, email }: { readonly shop: number; readonly email: string },
  work: (
    store: Store,
    member: { readonly shopId: number; readonly ownerId: string },
  ) => Promise<void>,
): Promise<void> {
  await withShop(context, shop, async (store) => {
    const owner = await findOwnerByEmail(store.write, email);
    try {
      if (!owner) throw new TeamRefusal('gone');
      await work(store, { shopId: shop, ownerId: owner.ownerId });
    } catch (error) {
      if (!(error instanceof TeamRefusal)) throw error;
      throw new CommandError(
        `${email} is not a member of shop ${shop}; "retention owners list" lists its members.`,
      );
    }
  });
}

const setRoleCommand = defineCommand({
  name: 'owners set-role',
  acts: ['role_set'],
  about: 'changes what a member of a shop may do, from the next page they open',
  options: { ...shopOption, ...emailOption, role: required(role, 'their new role') },
  async run({ shop, email, role: their }, context) {
    await change(context, { shop, email }, (store, member) =>
      setRole(store.write, systemClock, { ...member, role: their }, context.actor),
    );
    return { shop, email, role: their };
  },
  show: ({ shop, email, role: their }) => `${email} now has the role ${their} in shop ${shop}.`,
});

const remove = defineCommand({
  name: 'owners remove',
  acts: ['owner_removed', 'invitation_withdrawn'],
  about: "removes a member's access to a shop, from the next page they open, and invitations",
  options: { ...shopOption, ...emailOption },
  async run({ shop, email }, context) {
    await change(context, { shop, email }, (store, member) =>
      endMembership(store.write, systemClock, member, context.actor),
    );
    return { shop, email, state: 'removed' };
  },
  show: ({ shop, email }) => `${email} no longer has access to shop ${shop}.`,
});

export const ownerCommands = [invite, reset, resetOwnersFactors, list, setRoleCommand, remove];
