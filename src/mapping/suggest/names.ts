/**
 * What columns are called, in the languages of common exports. A name is compared without case, accents and
 * punctuation; stems of four letters or more may be anywhere in it, since German and Dutch join words.
 */

/** A column's name in lower-case words: "customerID" and "Kunden-Nr." give "customer id" and "kunden nr". */
export function wordsOf(name: string): string {
  return name
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\p{L}\d]+/gu, ' ')
    .trim()
    .replaceAll(joinedId, '$1$3 $2$4');
}

/** "customerid", "kundennummer" and "idcliente" as two words. */
const entities =
  'customer|cust|client|user|account|member|subscriber|subscription|sub|contract|plan|product|kunden?|vertrags?|mitglieds?|abo|klant|klanten|cliente?|usuario|contrato|contrat|abonne';
const joinedId = new RegExp(
  `\\b(?:(${entities})(id|ids|nr|no|num|number|nummer|nummern|code|key)|(id|num|cod)(${entities}))\\b`,
  'g',
);

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Stems by what they stand for. English, German, French, Spanish, Italian, Portuguese, Dutch, and a few of Polish. */
const stems = {
  id: list(`id ids n nr no num number nummer numero code codigo codice key uuid guid ref reference
    kennung identifiant identificativo identificador referencia referentie msno cod`),
  customer:
    list(`business company school organization organisation workspace merchant customer cust client clients user account acct member subscriber buyer tenant msno
    kunde kunden kund kdnr mitglied teilnehmer abonnent cliente clientes usuario suscriptor socio
    abonne adherent usager utente abbonato assinante klant gebruiker klient`),
  subscription: list(`subscription subscriptions sub subs contract agreement policy vertrag abo
    abonnement contrat contrato contratto suscripcion assinatura abbonamento`),
  personal:
    list(`email mail phone telephone telefon telefono telefone tel mobile handy fax name names
    firstname lastname surname username vorname nachname nom prenom nombre apellido apellidos nome cognome
    sobrenome naam achternaam voornaam address adresse anschrift direccion endereco indirizzo adres street
    strasse iban ssn passport birth birthday dob geburtsdatum geburt nacimiento naissance nascita ip`),
  contact: list(
    'email mail phone telephone telefon telefono telefone tel mobile handy fax iban ssn',
  ),
  price:
    list(`price prices amount amt charge charges fee fees revenue mrr arr acv rate cost payment bill
    spend preis betrag beitrag gebuhr entgelt kosten umsatz precio importe cuota monto coste cobro valor
    mensualidad prix montant cotisation redevance mensualite prezzo importo canone costo quota preco
    mensalidade premium contractvalue subscriptionvalue planvalue prijs bedrag bijdrage dues oplata cena pris avgift tarif tarifa tariffa tarief`),
  notPrice:
    list(`refund refunds tax taxes discount balance cashback salary income score delay method
    count extra distance day days eve night intl usage overage setup date percent pct rating failed
    debt limit credit steuer rabatt guthaben gehalt saldo descuento impuesto
    remise taxe sconto desconto korting metodo methode art currency churn salario ingreso ingresos late
    threshold limite plafond umbral seuil schwelle grenze exchange conversion ratio factor proceeds weight
    frequency grams attempts payments num max min gte lte increase subida augmentation erhohung
    reason change growth hike increase minutes calls hour hours unlimited paperless id status`),
  /** An amount, but perhaps not that of an interval. */
  average: list('avg average mean last previous first durchschnitt promedio moyenne media'),
  total: list(
    `total totals lifetime ltv clv cltv cumulative gesamt summe totale totaal historic spend acumulado
    paid due remaining outstanding so ytd tcv`,
  ),
  status: list(
    `status state estado estatus statut stato situacao situacion zustand etat stan lifecycle`,
  ),
  otherStatus: list(`payment marital employment invoice order shipping delivery kyc mail email renew
    family zahlung familien civil card score reason category grund motivo raison risk`),
  churn:
    list(`churn churned lapse lapsed exited attrition attrited cancelled canceled cancel left closed terminated
    unsubscribed lost inactive abgewandert abwanderung gekundigt kundigung storniert storno resilie
    resiliation desabonne inactif baja cancelado cancelada abandono abandonado fuga inactivo disdetta
    abbandono cessato evasao inativo cancelamento opgezegd opzegging inactief vertrokken`),
  active: list(
    `active live still aktiv activo activa actif ativo attivo actief subscribed retained vigente`,
  ),
  plan: list(`plan plans tier package paket product produkt item sku edition level abo abotyp membership
    abonnement subscription tarif tarifa tariffa tarief formule forfait offre formula plano piano pakiet
    pacchetto pacote paquete producto produit produto prodotto abbonamento assinatura suscripcion pakket`),
  notPlan:
    list(`date day days month months year price amount status state count length duration since
    interval frequency cycle period cadence discount international voice mail usage start end age family
    minutes number auto renew payment billing zahlung datum laufzeit id upgrade downgrade flag seit beginn
    ende preis betrag score device category currency`),
  interval:
    list(`interval frequency billing cycle period cadence recurrence recurring term duration length
    plan zahlungsweise zahlweise abrechnung intervall turnus rhythmus laufzeit frequence periodicite
    facturation frecuencia periodicidad facturacion ciclo frequenza fatturazione periodicita periodicidade
    cobranca frequentie betaaltermijn periode facturatie periodo subscription pago`),
  commitment: list(`contract commitment vertrag laufzeit contrato contrat contratto engagement term
    bindung looptijd`),
  start:
    list(`created effective inception commenced commencement start started signup signed joined join joining registered registration subscribed
    activated activation since begin began onboarded opened enrolled enrollment acquisition eintritt
    beginn anmeldung anmeldedatum startdatum abschluss seit erstellt angelegt registriert debut
    inscription souscription creation adhesion ouverture abonnement alta inicio registro inscripcion
    creacion suscrito desde inizio iscrizione attivazione creazione registrazione adesione dal
    cadastro adesao criacao entrada assinatura ingang ingangsdatum aanmelding aanmelddatum aangemaakt sinds
    rozpoczecia rejestracji from von`),
  ended:
    list(`cancelled canceled cancel cancellation cancelation churn churned lapse lapsed end ended ends ending
    termination terminated closed left unsubscribed deactivated exit kundigung gekundigt ende enddatum
    austritt beendet storno resiliation fin depart baja cancelacion termino finalizacion fine disdetta
    cessazione cancelamento fim einddatum opzegging opgezegd opzegdatum eind
    bis until expires expired expiry expiration zakonczenia rezygnacji`),
  /** Perhaps an end. */
  maybeEnded: list('stop stops stopped quit quits out finish finished gone'),
  notEnded:
    list(`period trial billing month paid card pause paused resume resumed reactivated returned refund refunded
    ship shipped shipping deliver delivered delivery order ordered invoice invoiced payment login seen visit visited
    contact contacted email mail purchase purchased converted upgraded downgraded verified confirmed reminder discount coupon promo commitment newsletter opt consent birth last updated modified`),
  next: list(`next renewal renews nachste naechste prochain prochaine proxima proximo prossima prossimo
    volgende verlangerung renouvellement renovacion rinnovo`),
  notStart:
    list(`period trial term first schedule last next birth updated modified geburt letzte ultimo ultima dernier
    dernière derniere`),
  updated: list(`updated modified geandert aktualisiert modifie actualizado modificado modificato
    aggiornato atualizado gewijzigd`),
  tenure:
    list(`tenure tenor seniority antiguedad anciennete months month monate monat mois meses mesi
    maanden accountage accountlength subscriptionlength subscriptionage contractage lengthofsubscription
    daysactive customerage vertragsdauer kundendauer mitgliedsdauer zugehorigkeit permanencia durata
    anzianita duracao looptijd laufzeit dauer duration subscriptionduration membershiplength`),
  notTenure:
    list(`last charge charges price amount fee cost revenue delay usage minutes calls call bill
    spend gb data contract since renewal remaining left betrag preis prix precio plan count frequency term
    commitment prepaid discount free promo trial billing cycle interval inactive warranty`),
  /** Words that change nothing of what a price is. */
  ofPrices:
    list(`per in of for the a de la le du des den der die el per unit units list base net gross netto brutto ht ttc
    current aktuell actual value mtl recurring regular iso code utc seat plus money usd eur gbp chf brl jpy cad aud`),
  trial: list('trial testphase probezeit probemonat probeabo essai prueba prova proef'),
  refund: list(
    `refund ruckerstattung erstattung remboursement reembolso devolucion rimborso gutschrift`,
  ),
  invoice: list(`invoice rechnung facture factura fattura fatura factuur receipt`),
  payment:
    list(`payment charge transaction tx txn trx zahlung paiement pago pagamento betaling order
    bestellung commande pedido ordine achat purchase compra acquisto`),
  event: list(`event events ereignis evenement evento`),
  quantity:
    list(`quantity qty seats seat licenses licences units anzahl menge stuck stuckzahl quantite
    cantidad quantita quantidade aantal plazas sieges platze`),
  currency: list(`currency wahrung waehrung devise moneda valuta moeda divisa`),
  cents: list('cents cent minor pence centimes centavos centesimi unitamount'),
} as const;
export type NameKind = keyof typeof stems;

const longest = 4;

/** Whether a column's name has one of the words or stems of a kind. */
export function isNamed(words: string, kind: NameKind): boolean {
  const compact = words.replaceAll(' ', '');
  const single = words.split(' ');
  return stems[kind].some((stem) =>
    stem.length < longest || shortOnly.has(stem) ? single.includes(stem) : compact.includes(stem),
  );
}

/** Stems that are inside unrelated words: "state" in "statement", "cost" in "costume". */
const shortOnly = new Set(
  list(`state left lost name names mail fine plan user item last rate level abos card risk reason term
    fuga art live still opt stop stops quit quits gone ship seen days fees bill cost costo quota valor since active aktiv extra first seat seats number
    code date desde debut month months monat monate mois meses mesi year ende ends ended naam nome
    auto renew count late night growth call calls data score length late sinds start spend total parti product
    contract subscription account member client order so paid due num max min dues company business school merchant payments event events
    first term trial prova proef`),
);

/** A column of what was before, not of what is. */
export const isFormer = /\b(?:previous|prev|prior|former|old)\b/;

const aroundIds = new Set(
  list(
    'own original external internal source row record hash new la le el the de des del der du temp',
  ),
);
const entityKinds = ['refund', 'invoice', 'payment', 'event', 'subscription', 'customer'] as const;
export type Entity = (typeof entityKinds)[number] | 'bare' | 'unknown';

/** What a column of ids identifies, by the last word of its name that is not about ids. */
export function entityOf(words: string): Entity {
  const others = words.split(' ').filter((word) => !isNamed(word, 'id') && !aroundIds.has(word));
  const head = others.at(-1);
  if (head === undefined) return 'bare';
  return entityKinds.find((kind) => isNamed(head, kind)) ?? 'unknown';
}

/** How Stripe's ids begin, which many take over. */
const idPrefixes: readonly (readonly [prefix: RegExp, entity: Entity])[] = [
  [/^re_/, 'refund'],
  [/^in_/, 'invoice'],
  [/^(?:ch|pi|py)_/, 'payment'],
  [/^evt_/, 'event'],
  [/^sub_/, 'subscription'],
  [/^cus_/, 'customer'],
];

/** What ids are about whose column is only called "id". */
export function entityOfIds(ids: readonly string[]): Entity {
  const found = idPrefixes.find(([prefix]) => ids.length > 0 && ids.every((id) => prefix.test(id)));
  return found?.[1] ?? 'bare';
}

/** Words for several units, in names and as values; the first that is found decides. */
const multiples = [
  ['fortnight|bi ?week|14 ?tag(?:ig|lich)|quincen|quinzen|zweiwoch|tweeweke', 'week', 2],
  ['bi ?month|bimestr|zweimonat|tweemaand', 'month', 2],
  ['cuatrimestr|quadrimestr', 'month', 4],
  ['quarter|quartal|vierteljahr|trimestr|kwartaal', 'month', 3],
  ['bi ?ann?u[ae]l|semi ?annual|half ?year|halbjahr|semestr|halfjaar', 'month', 6],
  ['bien+i?al|bisann?u|zweijahr|tweejaar', 'year', 2],
] as const;

const singles = [
  [
    String.raw`\b(?:mos?|mths?|mrr|mtl|mes|mese)\b|month|monat|mensu|mensal|mensil|meses|\bmesi\b|mois|maand|miesi`,
    'month',
    1,
  ],
  [
    String.raw`\b(?:yrs?|arr|acv)\b|year|annual|annuel|jahr|jaehrlich|anual|\banos?\b|\banni\b|jaar|\bans?\b`,
    'year',
    1,
  ],
  [String.raw`week|\bwks?\b|woche|semana|semaine|weken|hebdo|settiman`, 'week', 1],
  [
    String.raw`\bdays?\b|daily|\btage?n?\b|taglich|\bdias?\b|\bjours?\b|giorn|dagen|dagelijks`,
    'day',
    1,
  ],
] as const;

const periods = [...multiples, ...singles].map(([words, unit, count]) => ({
  pattern: new RegExp(words),
  /** A number before the word, as in "6 months". */
  counted: new RegExp(String.raw`(?<![\p{L}\d])([1-9]\d{0,2}) (?:${words})`, 'u'),
  unit,
  count,
}));

/** Whether a text is one of the words for several units, and no other. */
export const isMultiple = new RegExp(
  String.raw`^(?:${multiples.map(([words]) => words).join('|')})\p{L}*$`,
  'u',
);
/** No interval that an import has, or one of several. */
const unreadable = /semi ?month|bimens|tri ?(?:month|week)|bisettim|\bother\b|\btwice\b/;
/** "Bi-" is every two of a unit, or two in one. */
const ambiguous = /\bbi ?(?:week|month|ann?u)/;

export const periodUnits = ['day', 'week', 'month', 'year'] as const;

export interface Interval {
  readonly unit: (typeof periodUnits)[number];
  readonly count: number;
}

/** The period that a column's name speaks of, such as a month for "MonthlyCharges". */
export function periodOfName(words: string): Interval | undefined {
  const spaced = words.replaceAll(/(\d)(?=\p{L})/gu, '$1 ');
  const found = periods.find(({ pattern }) => pattern.test(spaced));
  if (!found || unreadable.test(words)) return undefined;
  const number = Number(found.counted.exec(spaced)?.[1] ?? 1);
  return { unit: found.unit, count: found.count * number };
}

/** "a month", or "every 2 months". */
export function everyOf({ unit, count }: Interval): string {
  return count === 1 ? `a ${unit}` : `every ${count} ${unit}s`;
}

/** What a person should check of a word that has two meanings. */
export function doubtOfPeriod(text: string): string | undefined {
  const words = wordsOf(text);
  const period = ambiguous.test(words) ? periodOfName(words) : undefined;
  return period && `"${text}" is read as ${everyOf(period)}; it may also mean another interval`;
}
