import { type BuildContext, blanksIn, conditionsOf, documentOf, planFields } from './build.ts';
import { Commented, countComment, timeField, withDoubt } from './document.ts';
import { isOfOther } from './id-roles.ts';
import { paymentStatusOf } from './meanings.ts';
import { amountColumns, doubtOfUnit } from './money-roles.ts';
import { entityOf, entityOfIds } from './names.ts';
import type { RoleContext, Roles } from './roles.ts';
import { type Column, type Table, bestOf } from './table.ts';

type SimpleContext = BuildContext & RoleContext;
type Fields = Record<string, unknown>;

/**
 * A mapping for tables of plans, payments, invoices and refunds.
 * @returns a problem if the file lacks what such a record needs
 */
export function buildSimple(
  table: Table,
  roles: Roles,
  context: SimpleContext,
): { readonly document: unknown; readonly problem: string | undefined } {
  const { kind, notes } = context;
  const columns = table.columns.filter(({ isLoaders }) => !isLoaders);
  const { fields, skipped, missing } =
    kind.type === 'plan' ? planParts(columns, roles) : moneyParts(columns, roles, context);
  const type = kind.type ?? '';
  const noted = notes.fields(type, fields);
  if (missing.length > 0) {
    const problem = `Each row is a ${type}: ${kind.reason}. Missing: ${missing.join('; ')}.`;
    return { document: undefined, problem };
  }
  const record = {
    type,
    when: conditionsOf(table.columns, skipped),
    currency: type === 'plan' ? undefined : roles.currency?.name,
    fields: noted,
  };
  return { document: documentOf(table.input, blanksIn(columns), [record]), problem: undefined };
}

interface Parts {
  readonly fields: Fields;
  readonly skipped: Readonly<Record<string, { isNot: readonly string[] }>> | undefined;
  readonly missing: readonly string[];
}

const isOwnId = ({ isUnique, filled, texts }: Column) => isUnique && filled === texts.length;

/** Plans are what rows of subscriptions refer to; their prices stand in those. */
function planParts(columns: readonly Column[], roles: Roles): Parts {
  const named = columns.filter(
    (column) => isOwnId(column) && !column.is('price') && !/product/.test(column.words),
  );
  const id =
    named.find(({ words }) => words === 'id') ??
    named.find((each) => each.is('plan') || each.is('id'));
  const name = named.find((each) => /name|title|type|bezeichnung|nom/.test(each.words)) ?? id;
  const { id: _, name: __, ...others } = planFields(roles) as Fields;
  const isGuess = roles.interval.kind === 'constant' && roles.interval.doubt !== undefined;
  return {
    fields: { id: id?.name, name: name?.name, ...others },
    skipped: undefined,
    missing: [
      ...(id ? [] : ['a column that identifies each plan']),
      ...(isGuess ? ['a column that says how often it is charged'] : []),
    ],
  };
}

const amountNames: readonly (readonly [pattern: RegExp, points: number])[] = [
  [
    /refunded|\bfees?\b|tax|\b(?:tva|vat|iva|mwst)\b|discount|balance|remaining|\bnet\b|rate|\bht\b|without|excluding|count|shipping|attempt/,
    0,
  ],
  [/paid|ttc|brutto|captured|total price|refund amount/, 80],
  [/^amount$|^(?:importe|montant|betrag|valor|importo|bedrag)$|^amount usd$/, 75],
  [/^total$|amount|importe|montant|betrag|valor|importo/, 70],
];

const dateNames: readonly (readonly [pattern: RegExp, points: number])[] = [
  [
    /due|echeance|vencimi?ento|falligkeit|scadenza|updated|period|start|end|next|scheduled|retry|void/,
    0,
  ],
  [
    /paid|processed|captured|collected|settled|payment|paiement|pago|bezahlt|processamento|refund|transaction|\btx\b/,
    90,
  ],
  [/^(?:date|fecha|datum|data)$/, 80],
  [/posted|closed/, 70],
  [/invoice|facture|factura|fatura|rechnung|emis|issue/, 60],
  [/created/, 50],
];

const pointsOf = (names: typeof dateNames, { words }: Column) =>
  names.find(([pattern]) => pattern.test(words))?.[1] ?? 0;

/** Payments, invoices as far as they were paid, and refunds. */
function moneyParts(columns: readonly Column[], roles: Roles, context: SimpleContext): Parts {
  const { kind, minorDigits, answers } = context;
  const isRefund = kind.type === 'refund';
  const reference = (entity: string) =>
    columns.find(
      (column) =>
        entityOf(column.words) === entity &&
        !isOfOther.test(column.words) &&
        column.filled > 0 &&
        !(column === id),
    );
  const own = (column: Column) =>
    isOwnId(column) && ['bare', kind.type, 'payment', 'invoice'].includes(entityOf(column.words));
  const id = columns.find(
    (column) => own(column) && column.values.every((text) => !/\s/.test(text)),
  );
  const subscription = reference('subscription');
  const payment = reference('payment') ?? reference('invoice');
  const amounts = amountColumns(
    columns.filter((each) => each !== id),
    { minorDigits, answers, minShare: 0.95 },
  );
  const amount = bestOf(amounts, ({ column }) => pointsOf(amountNames, column))?.found;
  const rivals = amounts.filter(
    ({ column }) => column !== amount?.column && pointsOf(amountNames, column) > 0,
  );
  const date = bestOf(roles.times, ({ column }) => pointsOf(dateNames, column))?.found;
  const refers = isRefund ? payment : subscription;
  const idField = id
    ? id.name
    : date &&
      refers &&
      withDoubt(
        { columns: [refers.name, date.column.name] },
        `no column identifies the ${kind.type}s; two of one day replace each other`,
      );
  const { status, skipped } = statusOfPayments(columns);
  const doubts = amount && [
    rivals.length > 0
      ? `is "${amount.column.name}" what was paid, and not ${rivals.map(({ column }) => `"${column.name}"`).join(' or ')}`
      : undefined,
    amount.column.values.every((text) => /^\d+$/.test(text))
      ? doubtOfUnit(amount.column, entityOfIds(id?.values ?? []) !== 'bare')
      : undefined,
  ];
  const isOfPayment = date !== undefined && pointsOf(dateNames, date.column) >= 80;
  const time =
    date &&
    timeField(
      date,
      {},
      isOfPayment ? undefined : `"${date.column.name}" may not be when it was paid`,
    );
  const amountField =
    amount && withDoubt({ column: amount.column.name, ...amount.guess.format }, ...(doubts ?? []));
  const missing = [
    ...(idField ? [] : ['an id of its own']),
    ...(refers
      ? []
      : [isRefund ? 'the payment that it refunds' : 'the subscription that it is for']),
    ...(amountField ? [] : ['an amount']),
    ...(time ? [] : ['a date']),
  ];
  const fields = isRefund
    ? { id: idField, paymentId: payment?.name, amount: amountField, refundedAt: time }
    : {
        id: idField,
        subscriptionId: subscription?.name,
        cycle: reference('invoice')?.name ?? id?.name ?? date?.column.name,
        status,
        amount: amountField,
        processedAt: time,
      };
  return { fields, skipped: isRefund ? undefined : skipped, missing };
}

/** What the words of a status say about payments; what was never charged is left out. */
function statusOfPayments(
  columns: readonly Column[],
): Pick<Parts, 'skipped'> & { status: unknown } {
  const column = bestOf(columns, ({ words, values }) => {
    const isNamed = /\b(?:status|state|estado|estatus|statut|stato|zustand|success)\b|status/.test(
      words,
    );
    const isOther = /fulfil|network|tax|code|message|ship/.test(words);
    const known = values.filter((text) => paymentStatusOf(text)).length;
    return isNamed && !isOther && values.length <= 20 ? known * 10 : 0;
  })?.found;
  if (!column)
    return {
      status: withDoubt(
        { value: 'succeeded' },
        'no column says whether it was paid; all count as paid',
      ),
      skipped: undefined,
    };
  const table: Fields = {};
  const skipped: string[] = [];
  for (const text of column.values) {
    const { status, isUnsure } = paymentStatusOf(text) ?? { status: 'pending', isUnsure: true };
    if (status === 'skip') skipped.push(text);
    else table[text] = new Commented(status, [], countComment(column, text, isUnsure));
  }
  return {
    status: { column: column.name, table },
    skipped: skipped.length > 0 ? { [column.name]: { isNot: skipped } } : undefined,
  };
}
