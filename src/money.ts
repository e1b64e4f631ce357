/**
 * ISO 4217: the number of decimal digits of each currency. `Intl` follows common usage instead of the
 * standard (no decimals for HUF, COP or IQD), so it cannot be used.
 */
const currenciesByMinorDigits: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2:
    'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD ' +
    'CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS ' +
    'GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL ' +
    'MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK ' +
    'PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS ' +
    'TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const minorDigitsByCurrency = new Map(
  Object.entries(currenciesByMinorDigits).flatMap(([digits, codes]) =>
    codes.split(' ').map((code) => [code, Number(digits)] as const),
  ),
);

/** Decimal digits of a currency (ISO 4217); undefined for an unknown code. */
export function minorDigitsOf(currency: string): number | undefined {
  return minorDigitsByCurrency.get(currency);
}

/** The same for a shop's currency, which was valid when the shop was created; falls back to 2 digits. */
export function shopDigitsOf(currency: string): number {
  return minorDigitsOf(currency) ?? 2;
}

/** The most decimals of a price, before it is rounded to what can be paid. */
export const priceDecimals = 12;

/** How many units of that last decimal place one has. */
export const unitsPerOne = 10n ** BigInt(priceDecimals);

/** An exact fraction; the denominator is positive. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

export const zero: Ratio = { numerator: 0n, denominator: 1n };

/** Parses a decimal such as "-12.50", the database's text format, exactly. */
export function parseDecimal(text: string): Ratio {
  const [whole = '', fraction = ''] = text.split('.');
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) };
}

/** A decimal in units of its digit number `digits`, without further ones: 1530 for "15.3" and 2. */
export function unitsOf(text: string, digits: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
}

/** a × b */
export function multiply(a: Ratio, b: Ratio): Ratio {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

/** a / b, where b is above 0 */
export function divide(a: Ratio, b: Ratio): Ratio {
  return multiply(a, { numerator: b.denominator, denominator: b.numerator });
}

/** a + b */
export function add(a: Ratio, b: Ratio): Ratio {
  // Otherwise the denominator of a sum of many would have hundreds of digits.
  const [coarse, fine] = a.denominator < b.denominator ? [a, b] : [b, a];
  const factor = fine.denominator / coarse.denominator;
  if (factor * coarse.denominator === fine.denominator) {
    return { numerator: fine.numerator + factor * coarse.numerator, denominator: fine.denominator };
  }
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

/** a - b */
export function subtract(a: Ratio, b: Ratio): Ratio {
  return add(a, { numerator: -b.numerator, denominator: b.denominator });
}

/** The decimal of this many units of its last digit: 1530 and 2 give "15.30". */
export function decimalText(units: bigint, digits: number): string {
  if (units < 0n) return `-${decimalText(-units, digits)}`;
  const text = units.toString().padStart(digits + 1, '0');
  const point = text.length - digits;
  return digits === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`;
}

/** A decimal without trailing zeros. */
export function shorten(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

/**
 * Rounds a ratio to `digits` decimals, half away from zero. This is the only place where an exact value
 * becomes a floating-point number.
 */
export function roundHalfAway(value: Ratio, digits: number): number {
  const rounded = Number(roundedText(value, digits));
  // Avoid -0: JSON prints it as 0, but comparisons would distinguish the two.
  return rounded === 0 ? 0 : rounded;
}

/** The same as a decimal. */
export function roundedText({ numerator, denominator }: Ratio, digits: number): string {
  const scaled = (numerator < 0n ? -numerator : numerator) * 10n ** BigInt(digits);
  const rounded = (2n * scaled + denominator) / (2n * denominator);
  return decimalText(numerator < 0n ? -rounded : rounded, digits);
}

/** part / whole, rounded to `digits` decimals; 0 if `whole` is 0. */
export function roundedShare(part: bigint, whole: bigint, digits: number): number {
  return whole === 0n ? 0 : roundHalfAway({ numerator: part, denominator: whole }, digits);
}
