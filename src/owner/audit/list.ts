import { z } from 'zod';
import { type Act, actNames, acts, deedOf, nameOf } from '../../acts.ts';
import { html } from '../../http/html.ts';
import {
  type AuditEntry,
  countEntries,
  listEntries,
  listPeople,
} from '../../store/owners/audit.ts';
import type { TimeOrder } from '../../store/records/listing.ts';
import { choice } from '../framework/address.ts';
import * as column from '../framework/columns.ts';
import { positionSchema } from '../framework/cursor.ts';
import { defineList } from '../framework/define-list.ts';
import { type ListVisit, timeOrders } from '../framework/list.ts';
import { capitalised, countOf, showSecond } from '../ui/formats.ts';
import { showPeriod } from '../view/picker.ts';

const auditFilters = {
  what: choice('an act', acts),
  // PostgreSQL has no texts with a zero byte.
  who: z
    .string()
    .refine((text) => !text.includes('\0'), {
      error: ({ input }) => `“${input}” is not one of the names. Choose one of them.`,
    })
    .optional(),
};

type Visit = ListVisit<typeof auditFilters, TimeOrder>;

interface Row extends AuditEntry {
  readonly name: string;
  readonly deed: string;
}

interface Summary {
  readonly count: number;
  /** Who has entries in the period, each with a name. */
  readonly who: readonly (readonly [who: string, name: string])[];
  readonly what: readonly Act[];
}

/** An email address stays as it is. */
const labelOf = (name: string) => (name.includes('@') ? name : capitalised(name));

const periodOf = ({ view: { period } }: Visit) => ({
  from: new Date(period.from),
  to: new Date(period.until),
});

/** The entries of the shop's own chain. */
export const auditLog = defineList<Row, Summary>()({
  path: '/audit',
  right: 'ownership',
  title: 'Audit log',
  label: 'Audit log',
  hint: 'Activity, security',
  navigation: { group: 'Integrate', icon: 'audit' },
  noun: 'entries',
  fileNoun: 'audit-log',
  caption: 'Entries of the audit log',
  pickers: ['period'],
  endWithView: ['who', 'what'],
  filters: auditFilters,
  selects: [
    { name: 'who', label: 'Who', none: 'Everyone', options: ({ who }) => who },
    {
      name: 'what',
      label: 'What',
      none: 'Everything',
      options: ({ what }) => what.map((act) => [act, actLabel(act)]),
    },
  ],
  orders: timeOrders,
  place: positionSchema,
  placeOf: ({ at, number }) => ({ createdAt: at.getTime(), id: number }),
  async read(visit: Visit, { order, after, limit }) {
    const { parts, shop, filters } = visit;
    const entries = await listEntries(parts.store.write, shop.id, {
      ...periodOf(visit),
      who: filters.who,
      what: filters.what && [filters.what],
      order,
      after: after && { at: new Date(after.createdAt), number: after.id },
      limit,
    });
    const people = await listPeople(parts.store.write, entries);
    return entries.map((entry) => ({
      ...entry,
      name: nameOf(entry.who, people),
      deed: deedOf(entry, people),
    }));
  },
  async summarise(visit) {
    const { parts, shop, filters } = visit;
    const groups = await countEntries(parts.store.write, shop.id, periodOf(visit));
    const people = await listPeople(parts.store.write, groups);
    const count = groups
      .filter(({ who, what }) => who === (filters.who ?? who) && what === (filters.what ?? what))
      .reduce((sum, group) => sum + group.count, 0);
    return {
      count,
      who: [...new Set(groups.map(({ who }) => who))]
        .map((who) => [who, labelOf(nameOf(who, people))] as const)
        .toSorted(([, one], [, other]) => one.localeCompare(other)),
      what: actNames.filter((act) => groups.some(({ what }) => what === act)),
    };
  },
  count: (_, { count }) => count,
  head: (visit, { count }) =>
    html`<p>
      <strong>${countOf(visit, count, 'entry', 'entries')}</strong>
      ${showPeriod(visit, visit.view.period)}. Times are in UTC. Of where a request came from, only
      its network is kept.
    </p>`,
  columns: [
    {
      label: 'What',
      kind: 'head',
      cell: ({ deed }) => capitalised(deed),
      file: { What: ({ what }) => what, Target: ({ target }) => target },
    },
    column.text('Who', ({ name }) => name, { isStyled: true, cell: ({ name }) => labelOf(name) }),
    column.time('Time', ({ at }) => at.getTime(), {
      kind: undefined,
      cell: ({ at }, visit) => showSecond(visit, at),
      sort: ['oldest', 'newest'],
    }),
    column.text('Network', ({ network }) => network, { kind: 'minor' }),
    column.text('Session', ({ session }) => session, { kind: 'minor' }),
    { label: 'Number', file: { Number: ({ number }) => number } },
  ],
  empty: {
    title: 'No entries',
    text: 'Sign-ins, changes of keys, owners and sources, and exports of rows appear here.',
  },
});

/** An act without what it was done to. */
function actLabel(act: Act): string {
  return capitalised(act.replaceAll('_', ' '));
}
