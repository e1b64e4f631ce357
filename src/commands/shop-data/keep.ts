import { systemClock } from '../../clock.ts';
import { UsageError } from '../../errors.ts';
import { prune } from '../../store/retention.ts';
import { audited } from '../../store/owners/audit.ts';
import { type KeepMonths, type KeptType, keptTypes, updateKeepMonths } from '../../store/shops.ts';
import { type Value, defineCommand, flag, id, optional, required } from '../framework/command.ts';
import { tell } from '../framework/io.ts';
import { withShop } from '../store.ts';

const maxMonths = 1_200;

const describeMonths = (months: KeepMonths) =>
  keptTypes
    .map((type) => `${type} ${months[type] === undefined ? 'forever' : `${months[type]} months`}`)
    .join(', ');

/** Months; Infinity for all time. */
const period: Value<number> = {
  hint: 'MONTHS',
  read(typed, name) {
    if (typed === 'forever') return Infinity;
    const months = Number(/^(\d+) ?(?:months?)?$/.exec(typed.trim())?.[1]);
    if (months >= 1 && months <= maxMonths) return months;
    throw new UsageError(
      `${name} must be a period such as "36 months", or forever, not "${typed}".`,
    );
  },
};

const types: Value<readonly KeptType[]> = {
  hint: 'TYPES',
  read: (typed, name) =>
    typed.split(',').map((word) => {
      const type = keptTypes.find((each) => each === word.trim());
      if (type) return type;
      throw new UsageError(
        `${name} takes some of ${keptTypes.join(', ')}, joined by commas, not "${typed}".`,
      );
    }),
};

export const keepCommand = defineCommand({
  name: 'shops keep',
  acts: ['retention_set'],
  about: 'shows or sets how long the records of a shop are kept, and what is older',
  notes: [
    'The service deletes what is older once a day; the figures of that time change with it.',
    'Live subscriptions stay, and what they owe: see docs/operations.md.',
  ],
  options: {
    id: required({ ...id, hint: 'N' }, 'the id of the shop'),
    keep: optional(period, 'how long, such as "36 months", or forever'),
    types: optional(types, `with --keep: of which types (${keptTypes.join(',')})`),
    dryRun: flag('with --keep: only counts what is older'),
  },
  async run({ id: shopId, keep, types: chosen, dryRun }, context) {
    if (keep === undefined && (chosen || dryRun)) {
      throw new UsageError(`--${chosen ? 'types' : 'dry-run'} needs --keep.`);
    }
    return withShop(context, shopId, async ({ write }, shop) => {
      const changed = keep === undefined ? [] : (chosen ?? keptTypes).map((type) => [type, keep]);
      const all = Object.entries({ ...shop.keepMonths, ...Object.fromEntries(changed) });
      const months: KeepMonths = Object.fromEntries(all.filter(([, each]) => each !== Infinity));
      const older = await prune(write, shopId, months, { now: systemClock.now(), isDryRun: true });
      if (keep !== undefined && !dryRun) {
        const happened = {
          at: new Date(systemClock.now()),
          by: context.actor,
          what: 'retention_set',
          target: describeMonths(months),
        } as const;
        await audited(write, shopId, happened, (tx) => updateKeepMonths(tx, shopId, months));
      }
      return { shop: shopId, keepMonths: months, older, isDryRun: dryRun };
    });
  },
  document: ({ shop, keepMonths, older }) => ({ shop, keepMonths, older }),
  show: ({ shop, keepMonths, older }) =>
    [
      `Shop ${shop}:`,
      ...keptTypes.map((type) =>
        keepMonths[type] === undefined
          ? `  ${type}: kept forever`
          : `  ${type}: kept for ${keepMonths[type]} months; ${older[type] ?? 0} older`,
      ),
    ].join('\n'),
  end({ isDryRun }, { io }) {
    if (isDryRun) tell(io, 'This was a dry run: nothing was changed.');
    return 0;
  },
});
