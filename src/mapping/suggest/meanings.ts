import type { SubscriptionStatus } from '../../vocabulary.ts';
import { intervalWords } from '../fields.ts';
import { type Interval, isMultiple, periodOfName, wordsOf } from './names.ts';

/** What a word in a file means as a status. */
export interface Meaning<Status> {
  readonly status: Status;
  /** Whether the word may mean something else. */
  readonly isUnsure: boolean;
}
/** `skip`: such rows were never subscriptions. */
export type StatusMeaning = Meaning<SubscriptionStatus | 'skip'>;
/** `skip`: such rows were never charged. */
type PaymentMeaning = Meaning<'succeeded' | 'failed' | 'pending' | 'skip'>;
type Patterns<Status> = readonly (readonly [pattern: RegExp, meaning: Meaning<Status>])[];

const sure = <Status>(status: Status): Meaning<Status> => ({ status, isUnsure: false });
const unsure = <Status>(status: Status): Meaning<Status> => ({ status, isUnsure: true });

const cancelled =
  'nieaktyw|cancel|churn|terminat|unsubscrib|attrit|inactiv|deactiv|inaktiv|inactif|inactief|inativ|inattiv|gekundigt|kundig|storn|resili|annul|desabonn|disdet|cessat|encerrad|desligad|rescindid|opgezegd|abgemeldet|ausgetreten|\\bbaja\\b|zrezyg|uppsag|abandon';
const expired = 'expir|abgelaufen|vencid|caducad|scadut|verlopen|lapsed|echu|wygas';
const leaving =
  'cancel|churn|terminat|expir|paus|deactiv|unsubscrib|kundigung|resili|annul|baja|opzeg|disdet';
const denied = '(?:no|not|non|never|nicht|kein\\w*|pas|niet|nao)';

/** Words of an end or a pause that is still to come: "cancellation scheduled", "will expire". */
const booked = [
  `\\b(?:pending|scheduled(?: for| to)?|requested|(?:to|will)(?: be)?|(?:pend\\w+|attente|cours) de) (?:${leaving})`,
  `(?:${leaving})(?!\\w*(?:ed|ad[oa])\\b)\\w* (?:pend|schedul|request|in progress|soon|en cours|in corso|program|prevu|demand|agend|solicit|richiest|eing)`,
  '(?:cancell?|churn|terminat|expir|paus|deactivat|leav)(?:ing|e?s)\\b',
  '\\bcancel (?:at|on)\\b|(?:at|end of) (?:the )?(?:period|term)(?: end)?$',
  'vorgemerkt|^gekundigt (?:zum|per)|^in kundigung|kundigungsfrist',
  `^activ\\w* .*(?:${cancelled})`,
];
const notRenewing =
  /^(?:no|not|non|(?:will|does|do) not|won t) (?:\w+ )?renew(?!ed)|auto ?renew(?:al)? (?:off|cancel|disabled)/;

/** The first pattern that is found decides; "not active" must not be found as "active". */
const statusPatterns: Patterns<StatusMeaning['status']> = [
  [/^(?:incomplete(?: expired)?|draft|abandoned|prospect|lead)$/, sure('skip')],
  [
    /^(?:pending|future|upcoming|not started|waiting|ausstehend|en attente|pendiente)$/,
    unsure('skip'),
  ],
  [
    new RegExp(
      `^(?:${denied} (?:yet )?|un ?)(?:left|${cancelled}|${expired}|paus|frozen|on hold|suspen)`,
    ),
    sure('active'),
  ],
  [new RegExp([...booked, notRenewing.source].join('|')), unsure('active')],
  [/^(?:never|not yet|noch nicht|pas encore|nog niet) |^not activated/, unsure('skip')],
  [
    new RegExp(`^${denied} (?:\\w+ )?(?:activ|aktiv|actif|subscrib|current|renew)`),
    sure('cancelled'),
  ],
  [new RegExp(cancelled), sure('cancelled')],
  [
    /^(?:left|leave|leaver|dropped|drop out|lost|exited|gone|quit|closed|departed|beendet|beeindigd|ehemalig\w*|former|ex (?:customer|client|kunde)|perdu|parti|perdid[oa]|uscit[oa])$/,
    sure('cancelled'),
  ],
  [
    /^(?:stopped|ended|deleted|finished|completed|finalizad[oa]|concluid[oa]|termine|terminad[oa]|geschlossen|fermee?|cerrad[oa]|removed)$/,
    unsure('cancelled'),
  ],
  [new RegExp(expired), sure('expired')],
  [
    /^paus|^in paus|gepauz|^en pause|on hold|frozen|freez|^ruhend|stillgelegt|congelad|^skipped/,
    sure('paused'),
  ],
  [/suspen|sospes|ausgesetzt|gesperrt|blocked|dormant|holiday/, unsure('paused')],
  [
    /^(?:failed|unpaid|payment failed|uncollectible|zahlungsausfall|non payment|nonpayment|impayee?|impagad[oa])$/,
    sure('failed'),
  ],
  [
    /^(?:past due|in trial|trialing|trialling|trial|active trial|trial active|testphase|essai|prueba|en prueba)$/,
    sure('active'),
  ],
  [
    /overdue|delinquent|in dunning|arrears|uberfallig|mahn|retard|moros[oa]|vencimiento|grace/,
    unsure('active'),
  ],
  [
    /^(?:re)?a[ck]tiv(?!ation|ating|ierung)|^actif|^ativ|^attiv|^actief|^aktyw|^lopend|^laufend|en cours|^vigente|in corso|^bestand|^live$|^current|^running|^ongoing/,
    sure('active'),
  ],
  [
    /^(?:stayed|joined|retained|exist\w*(?: \w+)?|subscribed|renewed|enrolled|alta|de alta|em dia|al corriente|loyal|kunde|customer|paying|cliente|reg?ular|open|member|mitglied|stay|staying|retain|in force|inforce|a jour)$/,
    sure('active'),
  ],
  [
    /^(?:new|ok|normal|good|neu|nuev[oa]|nouveau|nuovo|nov[oa]|valid|gultig|enabled|started)$/,
    unsure('active'),
  ],
];

const ofPaid =
  'succe|paid|captured|settled|complet|approved|processed|apro[bv]ad|payee?s?\\b|bezahlt|cobrad|betaald|reglee?s?\\b';

const paymentPatterns: Patterns<PaymentMeaning['status']> = [
  [/void|cancel|annul|storn|delet/, sure('skip')],
  [/refund|reembols|rembours|erstatt|devuel|chargeback|disput/, unsure('succeeded')],
  [
    /fail|declin|reject|refus|rechaz|recus|error|uncollect|written off|denied|abgelehnt|echou|echec|fallid|not paid|unsucce|disapprov|desapro[bv]|reprovad/,
    sure('failed'),
  ],
  [
    /pending|open|process(?:ing)?$|queued|draft|scheduled|due|unpaid|author|sent|outstanding|pendi|pendente|attente|offen|uberfallig|retard|impay|impag|vencid|ausstehend|requires/,
    sure('pending'),
  ],
  [/\b(?:no|not|non|never|nicht|niet|nao|pas|to be|will be|awaiting) /, unsure('pending')],
  [/parti?al|partiell|parcial|parzial|teilweise|gedeeltelijk/, unsure('succeeded')],
  // Of an invoice, that it was sent.
  [/posted/, unsure('succeeded')],
  [new RegExp(`\\b(?:${ofPaid})|^(?:ok|pag[oa]|paga[dt][oaie])$`), sure('succeeded')],
  // As the end of a word, what comes before may deny it, as in "unbezahlt".
  [new RegExp(ofPaid), unsure('pending')],
];

const meaningBy = <Status>(patterns: Patterns<Status>, text: string) => {
  const words = wordsOf(text);
  return patterns.find(([pattern]) => pattern.test(words))?.[1];
};

/** What a text means as the status of a payment or an invoice. */
export function paymentStatusOf(text: string): PaymentMeaning | undefined {
  const paid = yesOrNo(text);
  const byFlag: PaymentMeaning | undefined =
    paid === undefined ? undefined : unsure(paid ? 'succeeded' : 'failed');
  return meaningBy(paymentPatterns, text) ?? byFlag;
}

/** The usual words of statuses by language. */
const vocabularies = [
  'active,trialing,trial,past_due,paused,unpaid,canceled,cancelled,expired',
  'aktiv,pausiert,gekündigt,storniert,abgelaufen,testphase',
  'actif,en pause,résilié,annulé,expiré,impayé',
  'activo,activa,pausado,pausada,cancelado,cancelada,vencido,vencida,baja,impagado',
  'ativo,ativa,pausado,pausada,cancelado,cancelada,expirado,expirada',
  'attivo,attiva,in pausa,disdetto,disdetta,annullato,scaduto',
  'actief,gepauzeerd,opgezegd,geannuleerd,verlopen',
].map((words) => words.split(','));

/** The words of the languages in which a column has some, written as that column writes them. */
export function knownStatuses(texts: readonly string[]): string[] {
  const found = vocabularies.filter((words) =>
    texts.some((text) => words.some((word) => wordsOf(word) === wordsOf(text))),
  );
  const [sample = ''] = texts;
  const isUpper = sample === sample.toUpperCase();
  const isTitle = !isUpper && sample.slice(0, 1) !== sample.slice(0, 1).toLowerCase();
  const isSpaced = isTitle || texts.some((text) => text.includes(' '));
  return found.flat().map((word) => {
    const plain = isSpaced ? word.replace('_', ' ') : word;
    if (isUpper) return plain.toUpperCase();
    return isTitle ? plain.slice(0, 1).toUpperCase() + plain.slice(1) : plain;
  });
}

/** What a single letter is likely to mean in a column of statuses. */
const letters: ReadonlyMap<string, SubscriptionStatus> = new Map([
  ['a', 'active'],
  ['e', 'expired'],
  ...[...'ps'].map((letter) => [letter, 'paused'] as const),
  ...[...'cditx'].map((letter) => [letter, 'cancelled'] as const),
]);

/** The same for codes such as "A" and "C". */
export function statusOfLetter(text: string): StatusMeaning | undefined {
  const status = letters.get(text.trim().toLowerCase());
  return status && unsure(status);
}

/** What a text means as a status; undefined if it is no word of that kind. */
export function statusOf(text: string): StatusMeaning | undefined {
  return meaningBy(statusPatterns, text);
}

const yes = new Set(
  'yes y true t 1 ja j wahr oui o vrai si s verdadero sim verdadeiro vero igen tak'.split(' '),
);
const no = new Set('no n false f 0 nein falsch non faux falso nao nee nie'.split(' '));

/** Whether a text says yes or no; undefined if it says neither. "1.0" is 1. */
export function yesOrNo(text: string): boolean | undefined {
  const word = wordsOf(text.replace(/^([01])\.0+$/, '$1'));
  if (yes.has(word)) return true;
  return no.has(word) ? false : undefined;
}

const numberWords: Readonly<Record<string, number>> = Object.fromEntries(
  [
    'one ein eine einem un une uno una um uma een 1',
    'two zwei deux dos due dois duas twee 2',
    'three drei trois tres tre drie 3',
    'four vier quatre cuatro quattro quatro 4',
    'five funf cinq cinco cinque vijf 5',
    'six sechs sei seis zes 6',
  ].flatMap((words, index) => words.split(' ').map((word) => [word, index + 1] as const)),
);

/** Texts that mean one unit, and have no other word of it. */
const unitPatterns: readonly (readonly [pattern: RegExp, interval: Interval])[] = [
  [
    /^(?:month to month|m2m|rolling|mes a mes|mois par mois|mese per mese|mensal|mensual|mensile|mensuel(?:le)?)$/,
    { unit: 'month', count: 1 },
  ],
  [/^(?:yr|yrs|y)$/, { unit: 'year', count: 1 }],
  [/^(?:mo|mos|mth|m)$/, { unit: 'month', count: 1 }],
];

/** The interval that a text names, in any of the languages; undefined if it names none. */
export function intervalOf(text: string): Interval | undefined {
  const words = wordsOf(text);
  const known = intervalWords.get(words);
  if (known) return { unit: known[1] as Interval['unit'], count: known[0] };
  const special = unitPatterns.find(([pattern]) => pattern.test(words));
  if (special) return special[1];
  const bare = words.replace(
    /^(?:every|alle|tous les|toutes les|cada|ogni|elke|per|pro|por|a) /,
    '',
  );
  if (isMultiple.test(bare)) return periodOfName(bare);
  const match =
    /^(?:(\d{1,4}|\p{L}+) )?(?:x )?(\p{L}{1,20})(?: (?:contract|vertrag|plan|abo|billing|contrato|contrat|contratto))?$/u.exec(
      bare.replace(/^(\d+)(?=\p{L})/u, '$1 '),
    );
  if (!match) return undefined;
  const [, number, word = ''] = match;
  const count = number === undefined ? 1 : (numberWords[number] ?? Number(number));
  const unit = periodOfName(word);
  // "monthly revenue" is no interval: its second word is not one.
  if (!unit || !Number.isInteger(count) || !(isUnit.test(word) || isMultiple.test(word)))
    return undefined;
  return { unit: unit.unit, count: unit.count * count };
}

const isUnit =
  /^(?:days?|tage?|taglich|dias?|diari[oa]|jours?|giorn[oi]|dag(?:en|elijks)?|daily|weeks?|weekly|wochen?|wochentlich|semanas?|semanal|semaines?|hebdomadaire|settiman[ae]|settimanale|weken|wekelijks|months?|monthly|monate?n?|monatlich|mes(?:es)?|mensual|mensal|mensile|mensuel(?:le)?|mois|mes[ei]|maand(?:en|elijks)?|years?|yearly|annual|annually|annuel(?:le)?|annuale|anual|jahre?n?|jahrlich|jahresvertrag|anos?|ann[oi]|ans?|annees?|jaar|jaarlijks)$/;

/** Texts that stand for an empty value. */
const blanks = new Set(
  String.raw`null (null) na n/a #n/a nan nil none - -- — – \n ? undefined unknown . 0000-00-00 k.a.`.split(
    ' ',
  ),
);

export function isBlank(text: string): boolean {
  return text === '' || blanks.has(text.toLowerCase());
}
