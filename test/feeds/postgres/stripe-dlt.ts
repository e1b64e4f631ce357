import { isObject } from '../../../src/json.ts';
import { invoices, refunds, subscriptions } from './stripe-tables.ts';
import type { Tables } from './tables.ts';

type Row = Record<string, unknown>;

/**
 * The same world as dlt's verified source loads it, by its published rules: a dictionary becomes columns joined by two
 * underscores, a list of dictionaries a table with the row's key in _dlt_parent_id; what is nowhere set has no column.
 */
export function dlt(): { tables: Tables; rows: Readonly<Record<string, readonly object[]>> } {
  const rows: Record<string, Row[]> = {};
  const add = (table: string, object: object, more: Row = {}) => {
    const all = (rows[table] ??= []);
    const row: Row = { _dlt_id: `${table} ${all.length}`, ...more };
    all.push(row);
    const flatten = (part: object, before: string) => {
      for (const [name, value] of Object.entries(part)) {
        const column = `${before}${name}`;
        if (Array.isArray(value)) {
          for (const [index, each] of value.entries()) {
            const of = { _dlt_parent_id: row['_dlt_id'], _dlt_list_idx: index };
            add(`${table}__${column}`, each as object, of);
          }
        } else if (isObject(value)) flatten(value, `${column}__`);
        else if (value !== null) row[column] = value;
      }
    };
    flatten(object, '');
  };
  for (const each of subscriptions) add('subscription', each, { _dlt_load_id: '1793500000.1' });
  for (const each of invoices) add('invoice', each, { _dlt_load_id: '1793500000.1' });
  for (const each of refunds) add('refund', each, { _dlt_load_id: '1793500000.1' });
  const types = { string: 'varchar', boolean: 'boolean', number: 'bigint' };
  const tables = Object.entries(rows).map(([name, all]) => {
    const columns = new Map(all.flatMap((row) => Object.entries(row)));
    const byType = Map.groupBy(columns, ([, value]) => types[typeof value as keyof typeof types]);
    const named = [...byType].map(([type, some]) => [
      type,
      some.map(([column]) => column).join(' '),
    ]);
    return [name, Object.fromEntries(named) as Tables[string]] as const;
  });
  return { tables: Object.fromEntries(tables), rows };
}
