import type { Role } from '../../vocabulary.ts';
import { type Sql, arrayText, withTimeout } from '../database.ts';

/** What an owner chose to be told about a shop. */
export interface NotificationChoice {
  /** Once a week, how the shop does. */
  readonly digest: boolean;
  /** When a day was unusual. */
  readonly unusual: boolean;
  /** When a figure exceeds a limit; null for none. A rate from 0 to 1. */
  readonly maxChurnRate: number | null;
  readonly maxOutstanding: number | null;
  /** In the shop's currency. */
  readonly minMrr: number | null;
}

export const noChoice: NotificationChoice = {
  digest: false,
  unusual: false,
  maxChurnRate: null,
  maxOutstanding: null,
  minMrr: null,
};

export const limits = ['maxChurnRate', 'maxOutstanding', 'minMrr'] as const;
export type Limit = (typeof limits)[number];

/** Who is told, and until when they have been. */
export interface Recipient extends NotificationChoice {
  readonly ownerId: string;
  readonly shopId: number;
  readonly email: string;
  readonly unsubscribeSecret: string;
  readonly exceeded: readonly Limit[];
  readonly digestUntil: Date;
  readonly alertsUntil: Date;
}

export async function findNotificationChoice(
  sql: Sql,
  shopId: number,
  ownerId: string,
): Promise<NotificationChoice | undefined> {
  const [row] = await withTimeout(sql<NotificationChoice[]>`
    select digest, unusual, max_churn_rate::float8 as "maxChurnRate",
      max_outstanding as "maxOutstanding", min_mrr::float8 as "minMrr"
    from owners.notifications
    where shop_id = ${shopId} and owner_id = ${ownerId}`);
  return row;
}

interface NewChoice extends NotificationChoice {
  readonly unsubscribeSecret: string;
  /** From when on to tell. */
  readonly since: { readonly week: Date; readonly day: Date };
}

/** Replaces an owner's choice. What was told stays told. */
export async function upsertNotificationChoice(
  sql: Sql,
  shopId: number,
  ownerId: string,
  { digest, unusual, maxChurnRate, maxOutstanding, minMrr, unsubscribeSecret, since }: NewChoice,
): Promise<void> {
  await sql`
    insert into owners.notifications as n (owner_id, shop_id, digest, unusual, max_churn_rate,
      max_outstanding, min_mrr, unsubscribe_secret, digest_until, alerts_until)
    values (${ownerId}, ${shopId}, ${digest}, ${unusual}, ${maxChurnRate}, ${maxOutstanding},
      ${minMrr}, ${unsubscribeSecret}, ${since.week}, ${since.day})
    on conflict (owner_id, shop_id) do update
    set digest = excluded.digest, unusual = excluded.unusual,
      max_churn_rate = excluded.max_churn_rate, max_outstanding = excluded.max_outstanding,
      min_mrr = excluded.min_mrr,
      -- Mail that was turned on begins now.
      digest_until = case when n.digest then n.digest_until else excluded.digest_until end,
      -- A new limit may be exceeded already, which is worth a mail.
      exceeded = array(
        select e from unnest(n.exceeded) e
        where case e when 'maxChurnRate' then n.max_churn_rate = excluded.max_churn_rate
          when 'maxOutstanding' then n.max_outstanding = excluded.max_outstanding
          else n.min_mrr = excluded.min_mrr end
      )`;
}

/**
 * Reserves an owner with a choice for a test mail, as for others: until then, nothing else is sent to them.
 * @returns what their mail can be ended with; undefined if they are reserved already
 */
export async function claimTest(
  sql: Sql,
  shopId: number,
  ownerId: string,
  { now, until }: { readonly now: Date; readonly until: Date },
): Promise<string | undefined> {
  const [row] = await sql<{ secret: string }[]>`
    update owners.notifications set claimed_until = ${until}
    where shop_id = ${shopId} and owner_id = ${ownerId}
      and (claimed_until is null or claimed_until <= ${now})
    returning unsubscribe_secret as secret`;
  return row?.secret;
}

/** The shop and the address of one who can end their mails. */
export interface Unsubscriber {
  readonly shopId: number;
  readonly ownerId: string;
  readonly email: string;
}

export async function findUnsubscriber(
  sql: Sql,
  secret: string,
): Promise<Unsubscriber | undefined> {
  const [row] = await withTimeout(sql<Unsubscriber[]>`
    select n.shop_id as "shopId", n.owner_id as "ownerId", a.email
    from owners.notifications n join owners.accounts a using (owner_id)
    where n.unsubscribe_secret = ${secret}`);
  return row;
}

/** Ends all mails about a shop to an owner. */
export async function endNotifications(sql: Sql, shopId: number, ownerId: string): Promise<void> {
  await sql`
    update owners.notifications
    set digest = false, unusual = false, max_churn_rate = null, max_outstanding = null,
      min_mrr = null, exceeded = '{}'
    where shop_id = ${shopId} and owner_id = ${ownerId}`;
}

const beforeAll = { ownerId: '00000000-0000-0000-0000-000000000000', shopId: 0 };

/**
 * Reserves one who is to be told something about a week or a day that has ended, for `until`; no other process gets
 * them before.
 * @param due the ends of the last week and the last day that are told about, and the roles that may know figures
 * @param after the recipient before, so that recipients who were told already are not read again
 */
export async function claimRecipient(
  sql: Sql,
  due: { readonly week: Date; readonly day: Date; readonly roles: readonly Role[] },
  { now, until }: { readonly now: Date; readonly until: Date },
  after: Pick<Recipient, 'ownerId' | 'shopId'> = beforeAll,
): Promise<Recipient | undefined> {
  const [row] = await sql<Recipient[]>`
    update owners.notifications n
    set claimed_until = ${until}
    from owners.accounts a
    where a.owner_id = n.owner_id
      and (n.owner_id, n.shop_id) = (
        select owner_id, shop_id from owners.notifications
          join owners.memberships m using (owner_id, shop_id)
        where m.role = any (${arrayText(due.roles)}::text[])
          and (owner_id, shop_id) > (${after.ownerId}, ${after.shopId})
          and (claimed_until is null or claimed_until <= ${now})
          and (digest and digest_until < ${due.week}
            or alerts_until < ${due.day} and (unusual or max_churn_rate is not null
              or max_outstanding is not null or min_mrr is not null))
        order by owner_id, shop_id limit 1 for update of notifications skip locked
      )
    returning n.owner_id as "ownerId", n.shop_id as "shopId", a.email,
      n.unsubscribe_secret as "unsubscribeSecret", n.exceeded, n.digest_until as "digestUntil",
      n.alerts_until as "alertsUntil", n.digest, n.unusual,
      n.max_churn_rate::float8 as "maxChurnRate", n.max_outstanding as "maxOutstanding",
      n.min_mrr::float8 as "minMrr"`;
  return row;
}

/** Notes what a recipient was told, and lets others have them again. */
export async function releaseRecipient(
  sql: Sql,
  { shopId, ownerId }: Pick<Recipient, 'shopId' | 'ownerId'>,
  told: { readonly week: Date; readonly day: Date; readonly exceeded: readonly Limit[] },
): Promise<void> {
  await sql`
    update owners.notifications
    set digest_until = greatest(digest_until, ${told.week}),
      alerts_until = greatest(alerts_until, ${told.day}),
      exceeded = ${`{${told.exceeded.join(',')}}`}::text[], claimed_until = null
    where shop_id = ${shopId} and owner_id = ${ownerId}`;
}
