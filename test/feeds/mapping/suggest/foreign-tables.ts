import { money, statusOf, table, two, utf16, windows } from './tables.ts';

/** In other languages, with their delimiters, encodings and ways of writing. */
export const foreignTables = [
  table(
    'German: semicolons, Windows-1252, dates with dots, amounts such as 1.234,50 €',
    'Kundennummer|Nachname|E-Mail|Tarif|Vertragsbeginn|Kündigungsdatum|Zahlungsweise|Beitrag|Status',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 12 * (50 + below(20_000));
      const [word, meaning] = oneOf([
        ['aktiv', 'active'],
        ['gekündigt', 'cancelled'],
        ['pausiert', 'paused'],
      ] as const);
      const [interval, months] = oneOf([
        ['monatlich', 1],
        ['vierteljährlich', 3],
        ['jährlich', 12],
      ] as const);
      const [year, month, date] = day();
      const cells = [
        `K${index}`,
        `Müller${index}`,
        `k${index}@example.com`,
        oneOf(['Basis', 'Größe L']),
        `${two(date)}.${two(month)}.${year}`,
        word === 'gekündigt' ? `${two(date)}.${two(month)}.2026` : '',
        interval,
        `${money(cents, ',', '.')} €`,
        word,
      ];
      const isToCome = word === 'gekündigt' && `2026-${two(month)}-${two(date)}` > '2026-11-20';
      return { cells, status: isToCome ? 'active' : meaning, cents, months };
    },
    { delimiter: ';', end: '\r\n', encode: windows },
  ),
  table(
    'Spanish: tabs, UTF-16, decimal commas',
    'Código cliente|Apellidos|Tarifa|Fecha de alta|Estado|Cuota (€)|Periodicidad',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 12 * (50 + below(500));
      const [word, meaning] = oneOf([
        ['Alta', 'active'],
        ['Baja', 'cancelled'],
        ['Suspendido', 'paused'],
      ] as const);
      const [interval, months] = oneOf([
        ['Mensual', 1],
        ['Trimestral', 3],
        ['Anual', 12],
      ] as const);
      const [year, month, date] = day();
      const begin = `${two(date)}/${two(month)}/${year}`;
      const plan = oneOf(['Básico', 'Fibra 600']);
      const cells = [`C${index}`, 'Pérez', plan, begin, word, money(cents, ','), interval];
      return { cells, status: meaning, cents, months };
    },
    { delimiter: '\t', end: '\r\n', encode: utf16 },
  ),
  table(
    'French: bars, a byte order mark, a monthly price',
    'N° client|Civilité|Nom|Courriel|Formule|Date de souscription|Statut|Prix mensuel',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 500 + below(4000);
      const [word, meaning] = oneOf([
        ['actif', 'active'],
        ['résilié', 'cancelled'],
        ['en pause', 'paused'],
      ] as const);
      const [year, month, date] = day();
      const cells = [
        10_000 + index,
        'Mme',
        'Dupont',
        `d${index}@example.com`,
        oneOf(['Essentiel', 'Confort']),
        `${two(date)}/${two(month)}/${year}`,
        word,
        `${money(cents, ',')} €`,
      ];
      return { cells, status: meaning, cents };
    },
    { delimiter: '|', encode: (text) => Buffer.from(`\uFEFF${text}`) },
  ),
  table(
    'Italian and Dutch words, and no status but an end date',
    'Codice cliente|Abbonamento|Data inizio|Data disdetta|Canone mensile',
    300,
    ({ below, oneOf, day }, index) => {
      const cents = 500 + below(4000);
      const isGone = below(3) === 0;
      const [year, month, date] = day();
      const ended = isGone ? `2026-${two(month)}-${two(date)}` : '';
      const begin = `${year}-${two(month)}-${two(date)}`;
      const cells = [`IT-${index}`, oneOf(['Piano S', 'Piano M']), begin, ended, money(cents)];
      // What ends after the day of the test is active until then.
      const isOver = isGone && ended <= '2026-11-20';
      return { cells, status: statusOf(isOver), cents };
    },
  ),
  table(
    'German, as Excel saves it: its delimiter, a title, days as numbers, decimal commas, empty rows below',
    'Kundennr.|Vertragsnr.|Nachname|Tarif|Vertragsbeginn|Gekündigt zum|Zahlweise|Beitrag|Status',
    300,
    ({ below, oneOf }, index) => {
      const cents = 12 * (50 + below(20_000));
      const [word, meaning] = oneOf([
        ['Aktiv', 'active'],
        ['Gekündigt', 'cancelled'],
        ['Ruhend', 'paused'],
      ] as const);
      const [interval, months] = oneOf([
        ['monatlich', 1],
        ['halbjährlich', 6],
        ['jährlich', 12],
      ] as const);
      const cells = [
        `K-${below(200)}`,
        `V${index}`,
        'Müller',
        oneOf(['Basis', 'Größe L']),
        `${44_000 + below(1500)},5`,
        word === 'Gekündigt' ? 46_023 + below(300) : '',
        interval,
        money(cents, ',', '.'),
        word,
      ];
      return { cells, status: meaning, cents, months };
    },
    {
      delimiter: ';',
      end: '\r\n',
      encode: (text) =>
        windows(`sep=;\r\nVerträge;;;;;;;;\r\nStand;01.11.2026;;;;;;;\r\n\r\n${text};;;;;;;;\r\n`),
    },
  ),
];
