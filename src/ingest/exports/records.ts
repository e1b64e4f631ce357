import type { StoredPeriod } from '../../records/paid-periods.ts';
import type { SeenValue } from '../../records/past-values.ts';
import { type RecordType, recordTypes } from '../../records/records.ts';
import type { Sql, Transaction } from '../../store/database.ts';
import { type StoredFields, listExportPage } from '../../store/records/export-pages.ts';
import { listPlanIntervals } from '../../store/records/plans.ts';
import { listSourceIds } from '../../store/records/source-ids.ts';
import { statedValues } from '../histories/past-values.ts';

/** A record of a shop, as it was written last to a file that is continued. */
export interface Position {
  readonly type: RecordType;
  readonly id: number;
}

export interface ExportPage {
  readonly type: RecordType;
  /** As the import reads them. */
  readonly lines: readonly string[];
}

/** The records of a shop, parents first, with what only exports say of them. @param after where to go on */
export async function* exportRecords(
  sql: Sql | Transaction,
  shopId: number,
  after?: Position,
): AsyncGenerator<ExportPage> {
  for (const type of recordTypes.slice(after ? recordTypes.indexOf(after.type) : 0)) {
    let last = after?.type === type ? after.id : 0;
    for (;;) {
      const page = await listExportPage(sql, shopId, type, last);
      if (page.length === 0) break;
      last = page.at(-1)?.id ?? last;
      const extras = type === 'subscription' ? await ofSubscriptions(sql, shopId, page) : [];
      const sourceIds = await sourceIdsOf(sql, shopId, type, page);
      const lines = page.map(({ values }, index) =>
        JSON.stringify({ type, ...values, ...extras[index], sourceIds: sourceIds[index] }),
      );
      yield { type, lines };
    }
  }
}

/** The columns of a subscription whose form in a record is another. */
interface Subscription {
  readonly planId: number;
  readonly status: string;
  readonly createdAt: Date;
  readonly statusEvents?: readonly object[];
  readonly paidPeriods?: readonly StoredPeriod[];
  readonly pastValues?: readonly SeenValue[];
}

async function ofSubscriptions(
  sql: Sql | Transaction,
  shopId: number,
  page: readonly StoredFields[],
): Promise<object[]> {
  const subscriptions = page.map((each) => each.values as unknown as Subscription);
  const valued = subscriptions.filter(({ pastValues }) => pastValues);
  const planIds = valued.map(({ planId }) => planId);
  const intervals = await listPlanIntervals(sql, shopId, planIds);
  return subscriptions.map((each, index) => {
    const { statusEvents = [], paidPeriods, pastValues, planId, status } = each;
    const planInterval = intervals.get(planId) ?? '';
    const createdAt = each.createdAt.getTime();
    return {
      ...(page[index]?.isUndated && {
        statusEvents: [...statusEvents, { at: null, to: status }],
      }),
      paidPeriods: paidPeriods?.map(([payment, through]) => ({ payment, through })),
      valueEvents: pastValues && statedValues(pastValues, { planInterval, createdAt }),
    };
  });
}

/** The ids at the source of records, and of their customers. */
async function sourceIdsOf(
  sql: Sql | Transaction,
  shopId: number,
  type: RecordType,
  page: readonly StoredFields[],
): Promise<(object | undefined)[]> {
  const used = page.map(({ id, values }) => ({ id, customerId: values['customerId'] as number }));
  const kinds = used.flatMap(({ id, customerId }) => [
    { kind: type, id },
    ...(customerId === undefined ? [] : [{ kind: 'customer' as const, id: customerId }]),
  ]);
  const known = new Map(
    (await listSourceIds(sql, shopId, kinds)).map(({ kind, id, sourceId }) => [
      `${kind} ${id}`,
      sourceId,
    ]),
  );
  return used.map(({ id, customerId }) => {
    const found = {
      id: known.get(`${type} ${id}`),
      customerId: known.get(`customer ${customerId}`),
    };
    return found.id === undefined && found.customerId === undefined ? undefined : found;
  });
}
