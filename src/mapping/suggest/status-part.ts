import type { SubscriptionStatus } from '../../vocabulary.ts';
import { countComment, timeField } from './fields.ts';
import { Commented, withDoubt } from './document.ts';
import type { Roles } from './roles.ts';
import type { StatusRole } from './status-role.ts';
import { type TimeRole, hasFuture } from './time-roles.ts';

type Condition = Readonly<Record<string, { is: readonly string[] } | { isNot: readonly string[] }>>;

interface StatusParts {
  /** Which rows are subscriptions, if not all. */
  readonly when: Condition | undefined;
  readonly status: unknown;
  /** Which rows will be charged again. */
  readonly isLive: Condition | undefined;
  readonly events: unknown;
}

/** What the mapping says about statuses and when they changed. */
export function statusParts({ status, ended }: Roles, now: number): StatusParts {
  if (status) return partsOf(status, ended, now);
  if (ended) return partsOfEnd(ended, now);
  const value = { value: 'active' };
  const doubt =
    'no column says which subscriptions were cancelled, so all are active. If one does: { "column": "NAME", "table": { "TEXT": "cancelled" }, "otherwise": "active" }';
  return {
    when: undefined,
    status: withDoubt(value, doubt),
    isLive: undefined,
    events: undefined,
  };
}

function partsOf(role: StatusRole, ended: TimeRole | undefined, now: number): StatusParts {
  const { column, meanings, blank, isUnsure } = role;
  const texts = [...meanings.keys()];
  const textsOf = (...statuses: readonly (SubscriptionStatus | 'skip')[]) =>
    texts.filter((text) => statuses.includes(meanings.get(text)?.status ?? 'active'));
  const table: Record<string, unknown> = {};
  for (const [text, { status, isUnsure: isGuess }] of meanings) {
    if (status === 'skip') continue;
    table[text] = new Commented(status, [], countComment(column, text, isGuess));
  }
  const empty = column.texts.length - column.filled;
  const skipped = textsOf('skip');
  if (empty > 0) {
    const doubt = blank.isUnsure
      ? 'CHECK: rows without a value; what are they?'
      : 'rows without a value';
    for (const text of new Set(['', ...column.blanks])) {
      if (!column.texts.includes(text)) continue;
      if (blank.status === 'skip') skipped.push(text);
      else table[text] = new Commented(blank.status, [], doubt);
    }
  }
  const doubt = isUnsure ? `"${column.name}" is taken for the status` : undefined;
  const gone = textsOf('cancelled', 'expired');
  const goneStatuses = new Set(gone.map((text) => meanings.get(text)?.status));
  const [only] = goneStatuses;
  const to =
    goneStatuses.size === 1
      ? { value: only }
      : {
          column: column.name,
          table: Object.fromEntries(gone.map((text) => [text, meanings.get(text)?.status])),
        };
  return {
    when: skipped.length > 0 ? { [column.name]: { isNot: skipped } } : undefined,
    status: withDoubt({ column: column.name, table }, doubt),
    isLive: { [column.name]: { is: textsOf('active') } },
    events:
      ended && gone.length > 0
        ? [
            {
              when: { [column.name]: { is: gone } },
              at: timeField(
                ended,
                {},
                ended.isUnsure ? `"${ended.column.name}" is taken for the end` : undefined,
              ),
              to,
              until: hasFuture(ended, now)
                ? withDoubt(
                    to,
                    `some "${ended.column.name}" are still to come; { "value": "active" } keeps those rows active until then`,
                  )
                : undefined,
            },
          ]
        : undefined,
  };
}

/** Without a status, those are cancelled that have an end. */
function partsOfEnd(ended: TimeRole, now: number): StatusParts {
  const { column, isUnsure } = ended;
  const { name } = column;
  const isAlways = column.filled === column.texts.length;
  const doubt = isAlways
    ? `all rows have "${name}", so all have ended or will end then`
    : `${isUnsure ? `"${name}" is taken for the end: ` : ''}rows with "${name}" are cancelled, all others active`;
  const empty = Object.fromEntries(['', ...column.blanks].map((text) => [text, 'active']));
  const status = { column: name, table: empty, otherwise: 'cancelled' };
  return {
    when: undefined,
    status: isAlways || isUnsure ? withDoubt(status, doubt) : new Commented(status, [doubt]),
    isLive: { [name]: { is: ['', ...column.blanks] } },
    events: [
      {
        at: timeField(ended),
        to: { value: 'cancelled' },
        until: hasFuture(ended, now) ? { value: 'active' } : undefined,
      },
    ],
  };
}
