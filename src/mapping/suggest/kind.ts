import { isOfOther } from './id-roles.ts';
import type { Answers } from './answers.ts';
import { type Entity, entityOf, entityOfIds, isNamed } from './names.ts';
import type { Roles } from './roles.ts';
import type { Column, Table } from './table.ts';

/** What a row of a table is: a type of record, or something that is none. */
export interface RowKind {
  readonly type: 'subscription' | 'payment' | 'refund' | 'plan' | undefined;
  /** Why, or what it is instead. */
  readonly reason: string;
  /** Whether a person should check it; without a type, whether rows may be subscriptions nevertheless. */
  readonly isUnsure: boolean;
}

const rowTypes = ['subscription', 'payment', 'refund', 'plan'] as const;

const sure = (type: RowKind['type'], reason: string): RowKind => ({
  type,
  reason,
  isUnsure: false,
});
const other = (reason: string) => sure(undefined, reason);

/** Names that tables of one kind have, and others hardly. */
const typical = {
  invoice:
    /\b(?:due (?:at|on|date)|date due|amount (?:due|paid|remaining)|subtotal|net terms|billing reason|receipt number|echeance|vencimi?ento|falligkeit|scadenza)\b|\b(?:invoice|facture|factura|rechnungs?) ?(?:date|number|nummer|datum)|\b(?:date|fecha) (?:d |de )?(?:emis\w*|facture|factura|fatura|invoice)|issue date/,
  payment:
    /pagamento|processamento|\b(?:payout|reporting category|gateway|processor|captured|processed at|refunded|financial status|payment intent|available on|chargeback|bandeira)\b|\b(?:failure|error|authorization) (?:code|message)|card (?:number|brand)|(?:transaction|payment) (?:date|type|time)|\bdate (?:paiement|payment|achat)|evidence/,
  refund: /\brefund (?:date|number|reason|time|at|on|transaction)\b/,
  discount:
    /\b(?:amount off|percent off|max redemptions|redeem by|times redeemed|usage limits?|applies to|minimum order|promo(?:tion)? code|coupon code|discount value)\b/,
  plan: /^(?:interval|trial|billing) (?:unit|length|count|period days)$|\b(?:nickname|setup fee|billing scheme|total billing cycles|tax exempt)\b/,
  subscription:
    /\b(?:current (?:period|term)|trial|auto ?renew|renewal|billing (?:cycle|anchor|threshold)|cancel at|ended at|cancell?ed at|start date|next (?:billing|charge|payment))\b|interval/,
} as const;

const countOf = (columns: readonly Column[], pattern: RegExp) =>
  columns.filter(({ words }) => pattern.test(words)).length;

const isEvent = /^events?$|\bevent (?:type|name|date|at|time|timestamp|id)\b/;
const ofThisRow =
  /^(?!.*\b(?:latest|last|first|default|next|upcoming|method|processor|template)\b)/;

/** What a reference or an id of the row's own is about; "Factura" with its numbers is one, too. */
function referenceOf({ words, values }: Column): Entity | undefined {
  const [first = '', last = first] = [words.split(' ')[0], words.split(' ').at(-1)];
  const entity = entityOf(words);
  const isAlone = first === words && ['invoice', 'payment', 'refund'].includes(entity);
  const isId = isNamed(first, 'id') || isNamed(last, 'id') || (isAlone && haveDigits(values));
  if (!isId || !ofThisRow.test(words) || isOfOther.test(words)) return undefined;
  return entity === 'bare' ? entityOfIds(values) : entity;
}

const haveDigits = (values: readonly string[]) =>
  values.every((text) => /^(?=.*\d)[\w:./-]+$/.test(text));

/** Finds out what the rows are, as a person says, or by names and values. */
export function findKind(table: Table, roles: Roles, answers: Answers): RowKind {
  const answer = answers.get('kind') ?? (answers.size > 0 ? 'subscription' : undefined);
  const chosen = rowTypes.find((type) => type === answer);
  if (chosen) return sure(chosen, 'that is the answer');
  const guess = guessKind(table, roles);
  return answer === 'none' && guess.type ? other('Its rows are nothing to import.') : guess;
}

/** By the rows' own id, by what they refer to, and by what else they have. */
function guessKind({ columns: all, rows }: Table, roles: Roles): RowKind {
  const columns = all.filter(({ isLoaders }) => !isLoaders);
  if (columns.some(({ words }) => isEvent.test(words))) {
    return other('Each row is an event. Export the present state: one row a subscription.');
  }
  const isOwn = ({ isUnique, filled }: Column) => isUnique && filled === rows.length;
  const ids = columns.filter((column) => referenceOf(column));
  // Of rows that were changed, each has the id again.
  const own = ids.find(isOwn) ?? ids.find(({ words }) => words === 'id');
  const entity = own && referenceOf(own);
  const has = (...kinds: readonly Entity[]) =>
    ids.some((column) => column !== own && kinds.includes(referenceOf(column) ?? 'bare'));
  const isBare = entity === undefined || entity === 'bare';
  if (isBare && countOf(columns, typical.discount) > 1) {
    return other('Each row is a discount or a coupon. Export the subscriptions that have them.');
  }
  if (entity === 'refund') return sure('refund', `"${own?.name}" is the id of refunds`);
  if (isBare && countOf(columns, typical.refund) > 1) {
    return sure('refund', 'its columns are those of refunds');
  }
  if (isBare && !has('customer', 'subscription') && countOf(columns, typical.plan) > 2) {
    return sure('plan', 'its columns are those of plans, and none is of customers');
  }
  if (entity === 'invoice' || entity === 'payment') {
    return sure('payment', `"${own?.name}" is the id of ${entity}s`);
  }
  const points = [typical.invoice, typical.payment].map((names) => countOf(columns, names));
  const most = Math.max(...points) - countOf(columns, typical.subscription);
  const isPlain = !roles.plan && roles.interval.kind === 'constant' && !roles.price?.period;
  const isOfPeople = entity === 'subscription' || entity === 'customer';
  const isLittle = entity === undefined || (isPlain && entity === 'bare');
  if (most >= (isOfPeople ? 3 : isLittle ? 1 : 2)) {
    return sure('payment', 'its columns are those of payments');
  }
  if (isBare) {
    if (has('invoice', 'payment', 'refund')) {
      return other('Each row is about a payment or an invoice, and is neither itself.');
    }
    if (entity && has('subscription')) {
      return other('Each row is a part of a subscription. Export one row a subscription.');
    }
  }
  return ids.some((each) => isOwn(each) && referenceOf(each) === 'subscription')
    ? sure('subscription', 'it has the ids of subscriptions')
    : kindByRoles(columns, roles, own);
}

const nothingFound: RowKind = {
  type: undefined,
  reason:
    'No column was recognised as the status, the end or the price of subscriptions. Say which columns they are.',
  isUnsure: true,
};

/** For rows whose id does not say what they are. */
function kindByRoles(columns: readonly Column[], roles: Roles, own: Column | undefined): RowKind {
  const entity = own && referenceOf(own);
  const { status, ended, start, tenure, price, plan, interval, ids, next, latest } = roles;
  const hasState = status !== undefined || ended !== undefined;
  const hasInterval = interval.kind !== 'constant' || interval.doubt === undefined;
  const isSurePrice = price !== undefined && !price.isGuess;
  const customer = ids.isGuess ? undefined : ids.customer?.columns[0];
  const hasCustomer = customer !== undefined && customer !== own;
  const hasStart = (start !== undefined && !start.isUnsure) || tenure !== undefined;
  const isStartOfSubscription = hasStart && !/created|creat/.test(start?.column.words ?? '');
  // Plans and products may be active, too.
  const isFlag = status !== undefined && status.column.isFlag;
  const isStateOfSubscription =
    ended !== undefined || (status !== undefined && !(isFlag && !status.column.is('churn')));
  if (!hasState && !price) return nothingFound;
  if (!isStateOfSubscription && !isStartOfSubscription && !hasCustomer && entity !== 'customer') {
    if (isSurePrice && (plan !== undefined || (hasInterval && own))) {
      return sure('plan', 'its rows have prices of plans, and no customer');
    }
    return other('Nothing in it names customers or subscriptions, or says since when.');
  }
  const people = countOf(
    columns,
    /\b(?:first name|last name|email|phone|company|companyname|vat number|surname)\b/,
  );
  const isOne = hasCustomer && customer.counts.size === customer.texts.length;
  const isOfCustomers = entity === 'customer' || (isOne && !plan);
  const isPeople = isOfCustomers || (entity === 'bare' && people >= (hasCustomer ? 3 : 2));
  if (isPeople && !isSurePrice && !(hasState && isOfCustomers)) {
    return other('Each row is a customer. Export their subscriptions, with prices and dates.');
  }
  if (latest?.isOf === 'periods') {
    return {
      type: 'subscription',
      isUnsure: true,
      reason: `each row is a period, "${latest.column.name}": the latest one counts, and the price of the others is what it was then`,
    };
  }
  if (!hasState && !hasInterval && !plan && !next && !isStartOfSubscription) {
    return ids.customer && !own
      ? sure('payment', 'its rows have an amount and a date for each customer')
      : other('Neither status nor end, interval nor plan: nothing says that its rows recur.');
  }
  if (!isSurePrice && ids.subscription === undefined) return nothingFound;
  const isBilled = isSurePrice || hasInterval || plan || countOf(columns, typical.subscription) > 1;
  const lacks = [
    !hasState && !ids.customer && 'nothing tells customers apart: is a row a subscription?',
    !isBilled && 'neither price nor plan nor interval: is a row a subscription?',
    isPeople && !isSurePrice && 'a row is a customer; is it one subscription, too?',
    entity === 'unknown' && `"${own?.name}" names something else; is a row a subscription?`,
    !hasState && !hasInterval && 'neither a status nor an interval: is a row a subscription?',
  ].find((each) => each !== false);
  const reason = lacks ?? 'its columns are those of subscriptions';
  return { type: 'subscription', reason, isUnsure: lacks !== undefined };
}
