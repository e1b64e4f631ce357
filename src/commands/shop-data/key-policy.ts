import {
  describePolicy,
  maxKeyDays,
  policyProblem,
  setKeyPolicy,
} from '../../access/keys/key-policy.ts';
import { systemClock } from '../../clock.ts';
import { CommandError } from '../../errors.ts';
import { type Value, defineCommand, id, optional, required, whole } from '../framework/command.ts';
import { withShop } from '../store.ts';

const wholeDays = whole('DAYS', 1, maxKeyDays, 'none, or a whole number of days');

/** Null for none. */
const days: Value<number | null> = {
  ...wholeDays,
  read: (typed, name) => (typed === 'none' ? null : wholeDays.read(typed, name)),
};

export const keyPolicyCommand = defineCommand({
  name: 'shops key-policy',
  acts: ['key_policy_set'],
  about: 'shows or sets for how long new keys of a shop are valid',
  notes: ['Keys that exist stay as they are; the page Keys names those that live for longer.'],
  options: {
    id: required({ ...id, hint: 'N' }, 'the id of the shop'),
    default: optional(days, 'after how many days a key expires that is made without saying so'),
    longest: optional(days, 'after how many days a key expires at the latest'),
  },
  run: ({ id: shopId, default: usual, longest }, context) =>
    withShop(context, shopId, async ({ write: sql }, { keyDefaultDays, keyMaxDays }) => {
      const policy = {
        keyDefaultDays: usual === undefined ? keyDefaultDays : usual,
        keyMaxDays: longest === undefined ? keyMaxDays : longest,
      };
      if (usual !== undefined || longest !== undefined) {
        const problem = policyProblem(policy);
        if (problem !== undefined) throw new CommandError(problem);
        const parts = { sql, clock: systemClock };
        await setKeyPolicy(parts, { shopId, actor: context.actor }, policy);
      }
      return { shop: shopId, ...policy };
    }),
  show: ({ shop, ...policy }) => `New keys of shop ${shop} are valid ${describePolicy(policy)}.`,
});
