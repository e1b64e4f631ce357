import { allFields } from './records.ts';

const amounts = new Set(
  allFields.flatMap(([name, { kind }]) => (kind === 'amount' || kind === 'decimal' ? [name] : [])),
);

/** A number with more digits than binary floating point keeps. */
const inexact = /[\d.]{17}/;
/** A text that may have one as a field. */
const mayHaveInexact = /[:\s]-?[\d.]{17}/;

/**
 * Parses the JSON of records. The source text of an amount that is such a number stands for it, so that the schema
 * checks its digits. A reviver takes six times as long, so it runs only where one may be.
 */
export function parseRecordJson(text: string): unknown {
  return mayHaveInexact.test(text) ? JSON.parse(text, exactAmount) : JSON.parse(text);
}

function exactAmount(name: string, value: unknown, { source }: { source?: string } = {}): unknown {
  const isInexact = typeof value === 'number' && source !== undefined && inexact.test(source);
  return isInexact && amounts.has(name) ? source : value;
}
