import { type Answers, useOf } from './answers.ts';
import { type BuildContext, blanksIn, conditionsOf, documentOf, intervalFields } from './build.ts';
import { idField, inCents, statusTable, timeField, withDoubt } from './document.ts';
import type { Uses } from './columns.ts';
import { idOf, isOfOther } from './id-roles.ts';
import { paymentStatusOf } from './meanings.ts';
import { amountColumns, chosenShare, currencyCandidates, doubtOfUnit } from './money-roles.ts';
import { entityOf, entityOfIds } from './names.ts';
import { intervalCandidates } from './plan-roles.ts';
import type { Roles } from './roles.ts';
import { type Column, type Table, bestOf } from './table.ts';

type Fields = Record<string, unknown>;

/**
 * A mapping for tables of plans, payments, invoices and refunds.
 * @returns a problem if the file lacks what such a record needs
 */
export function buildSimple(table: Table, roles: Roles, context: BuildContext): Built {
  const { kind, notes, answers } = context;
  const columns = table.columns.filter(({ isLoaders }) => !isLoaders);
  const { fields, skipped, missing, choices } =
    kind.type === 'plan' ? planParts(columns, roles, answers) : moneyParts(columns, roles, context);
  const type = kind.type ?? '';
  const noted = notes.fields(type, fields);
  const lacks = missing.filter((each) => each !== false);
  if (lacks.length > 0) {
    const problem = `Each row is a ${type}: ${kind.reason}. Missing: ${lacks.join('; ')}.`;
    return { document: undefined, problem, choices };
  }
  const record = {
    type,
    when: conditionsOf(table.columns, skipped),
    ...(type !== 'plan' && notes.fields(type, { currency: roles.currency?.name })),
    fields: noted,
  };
  const document = documentOf(table.input, blanksIn(columns), [record]);
  return { document, problem: undefined, choices };
}

/** A mapping, why its rows cannot be imported, or both: one to edit. */
export interface Built {
  readonly document: unknown;
  readonly problem: string | undefined;
  readonly choices: Uses;
}

interface Parts {
  readonly fields: Fields;
  readonly skipped?: Readonly<Record<string, { isNot: readonly string[] }>> | undefined;
  /** What it lacks; false for what it has. */
  readonly missing: readonly (string | false)[];
  readonly choices: Uses;
}

const isOwnId = ({ isUnique, filled, texts }: Column) => isUnique && filled === texts.length;

/** Plans are what rows of subscriptions refer to; their prices stand in those. */
function planParts(columns: readonly Column[], roles: Roles, answers: Answers): Parts {
  const own = columns.filter(isOwnId);
  const named = own.filter((column) => !column.is('price') && !/product/.test(column.words));
  const idGuess =
    named.find(({ words }) => words === 'id') ??
    named.find((each) => each.is('plan') || each.is('id'));
  const idUse = useOf(answers, 'id', own, idGuess);
  const id = idUse.taken;
  const nameGuess = named.find((each) => /name|title|type|bezeichnung|nom/.test(each.words)) ?? id;
  const nameUse = useOf(answers, 'name', own, nameGuess);
  const name = nameUse.taken ?? id;
  const isGuess = roles.interval.kind === 'constant' && roles.interval.doubt !== undefined;
  return {
    fields: {
      id: id?.name,
      name: name?.name,
      planType: { value: 'subscription' },
      ...intervalFields(roles.interval),
    },
    missing: [
      !id && 'a column that identifies each plan',
      isGuess && 'a column that says how often it is charged',
    ],
    choices: {
      id: idUse,
      name: nameUse,
      interval: { taken: roles.interval.columns[0], fitting: intervalCandidates(columns) },
    },
  };
}

const amountNames: readonly (readonly [pattern: RegExp, points: number])[] = [
  [
    /refunded|\bfees?\b|tax|\b(?:tva|vat|iva|mwst)\b|discount|balance|remaining|\bnet\b|rate|\bht\b|without|excluding|count|shipping|attempt/,
    0,
  ],
  [/paid|ttc|brutto|captured|total price|refund amount/, 80],
  [/^amount$|^(?:importe|montant|betrag|valor|importo|bedrag)$|^amount usd$/, 75],
  [
    /^(?:grand )?total(?: price)?(?: (?:in )?cents)?$|amount|importe|montant|betrag|valor|importo/,
    70,
  ],
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
function moneyParts(columns: readonly Column[], roles: Roles, context: BuildContext): Parts {
  const { kind, answers } = context;
  const pick = (id: string, fitting: readonly Column[], guess: Column | undefined) =>
    useOf(answers, id, fitting, guess);
  const isRefund = kind.type === 'refund';
  const filled = columns.filter((column) => column.filled > 0 && !column.is('contact'));
  const own = (column: Column) =>
    isOwnId(column) && ['bare', kind.type, 'payment', 'invoice'].includes(entityOf(column.words));
  const ids = pick(
    'id',
    filled.filter(isOwnId),
    columns.find((column) => own(column) && column.values.every((text) => !/\s/.test(text))),
  );
  const id = ids.taken;
  const reference = (entity: string) =>
    columns.find(
      (column) =>
        entityOf(column.words) === entity &&
        !isOfOther.test(column.words) &&
        column.filled > 0 &&
        column !== id,
    );
  const invoice = reference('invoice');
  const references = isRefund
    ? pick('payment', filled, reference('payment') ?? invoice)
    : pick('subscription', filled, reference('subscription'));
  const refers = references.taken;
  const others = columns.filter((each) => each !== id);
  const readable = amountColumns(others, context, chosenShare);
  const sure = readable.filter(({ guess }) => guess.share >= 0.95);
  const amounts = pick(
    'amount',
    readable.map(({ column }) => column),
    bestOf(sure, ({ column }) => pointsOf(amountNames, column))?.found.column,
  );
  const amount = readable.find(({ column }) => column === amounts.taken);
  const rivals = sure.filter(
    ({ column }) =>
      !answers.has('amount') && column !== amount?.column && pointsOf(amountNames, column) > 0,
  );
  const dates = pick(
    'date',
    roles.times.map(({ column }) => column),
    bestOf(roles.times, ({ column }) => pointsOf(dateNames, column))?.found.column,
  );
  const date = roles.times.find(({ column }) => column === dates.taken);
  const ownId = id
    ? id.name
    : date &&
      refers &&
      withDoubt(
        { columns: [refers.name, date.column.name] },
        `no column identifies the ${kind.type}s; two of one day replace each other`,
      );
  const words = filled.filter(({ values }) => values.length <= maxWords);
  const statuses = pick('status', words, findPaymentStatus(words));
  const { status, skipped = [] } = statusOfPayments(statuses.taken);
  const left = isRefund ? [] : [...skipped, ...findRefunds(words, statuses.taken)];
  const isOfPayment =
    date !== undefined && (answers.has('date') || pointsOf(dateNames, date.column) >= 80);
  const time =
    date &&
    timeField(date, {}, !isOfPayment && `"${date.column.name}" may not be when it was paid`);
  const rivalNames = rivals.map(({ column }) => `"${column.name}"`).join(' or ');
  const isWhole = amount?.column.values.every((text) => /^\d+$/.test(text)) ?? false;
  const isCents = isWhole && amount?.column.is('cents');
  const amountField =
    amount &&
    withDoubt(
      { column: amount.column.name, ...(isCents ? { minorUnits: true } : amount.guess.format) },
      isCents && inCents,
      rivalNames !== '' && `is "${amount.column.name}" what was paid, and not ${rivalNames}`,
      isWhole && !isCents && doubtOfUnit(amount.column, entityOfIds(id?.values ?? []) !== 'bare'),
      amount.column.values.some((text) => text.startsWith('-')) &&
        'amounts below 0 are read as 0; are they refunds?',
    );
  const missing = [
    !ownId && 'an id of its own',
    !refers && (isRefund ? 'the payment that it refunds' : 'the subscription that it is for'),
    !amountField && 'an amount',
    !time && 'a date',
  ];
  const fields = isRefund
    ? { id: ownId, paymentId: refers?.name, amount: amountField, refundedAt: time }
    : {
        id: ownId,
        subscriptionId: refers && idField(idOf(refers), 'subscriptions'),
        cycle: invoice?.name ?? id?.name ?? date?.column.name,
        status,
        amount: amountField,
        processedAt: time,
      };
  return {
    fields,
    skipped: left.length > 0 ? Object.fromEntries(left) : undefined,
    missing,
    choices: {
      id: ids,
      [isRefund ? 'payment' : 'subscription']: references,
      amount: amounts,
      date: dates,
      ...(!isRefund && { status: statuses }),
      currency: { taken: roles.currency, fitting: currencyCandidates(columns) },
    },
  };
}

/** A column, and the texts whose rows are left out. */
type Left = readonly [column: string, { readonly isNot: readonly string[] }];

/** A column with more texts is no status. */
const maxWords = 20;

function findPaymentStatus(columns: readonly Column[]): Column | undefined {
  return bestOf(columns, ({ words, values }) => {
    const isNamed = /\b(?:status|state|estado|estatus|statut|stato|zustand|success)\b|status/.test(
      words,
    );
    const isOther = /fulfil|network|tax|code|message|ship/.test(words);
    const known = values.filter((text) => paymentStatusOf(text)).length;
    return isNamed && !isOther ? known * 10 : 0;
  })?.found;
}

/** Rows among payments that say to be refunds, in another column than the status. */
function findRefunds(columns: readonly Column[], status: Column | undefined): readonly Left[] {
  return columns.flatMap((column): Left[] => {
    const isNamed = /\b(?:type|kind|art|tipo|typ|soort|category)\b/.test(column.words);
    const texts = column.values.filter((text) => isRefundText.test(text));
    return isNamed && column !== status && texts.length > 0
      ? [[column.name, { isNot: texts }]]
      : [];
  });
}

const isRefundText = /refund|chargeback|dispute|erstattung|rembours|reembols|rimbors|terugbetal/i;

/** What the words of a status say about payments; what was never charged is left out. */
function statusOfPayments(column: Column | undefined): {
  readonly skipped?: readonly Left[];
  readonly status: unknown;
} {
  if (!column) {
    const doubt = 'no column says whether it was paid; all count as paid';
    return { status: withDoubt({ value: 'succeeded' }, doubt) };
  }
  const meanings = column.values.map(
    (text) => [text, paymentStatusOf(text) ?? { status: 'pending', isUnsure: true }] as const,
  );
  const { table, skipped } = statusTable(column, new Map(meanings));
  return {
    status: { column: column.name, table },
    skipped: skipped.length > 0 ? [[column.name, { isNot: skipped }]] : [],
  };
}
