import { randomInt } from 'node:crypto';
import { openClient } from '../../support/client.ts';

const server = process.env['TEST_POSTGRES'];

/** A merchant's database on the tests' server, and a login that may only read. */
export async function createSource() {
  if (server === undefined) throw new Error('There is no PostgreSQL server for tests.');
  const name = `source_${randomInt(2 ** 40)}`;
  const reader = `${name}_reader`;
  const admin = openClient(server);
  await admin.script(`create database ${name}`);
  await admin.script(`create role ${reader} login password 'of a reader'`);
  const at = (parts: Partial<URL>) =>
    Object.assign(new URL(server), { pathname: `/${name}`, ...parts }).href;
  const owner = openClient(at({}));
  await owner.script('revoke create on schema public from public');
  return {
    name,
    reader,
    /** For the reader. */
    url: at({ username: reader, password: 'of a reader', search: '' }),
    /** As the owner of the database. */
    owner,
    admin,
    async remove() {
      await owner.end();
      await admin.script(`drop database ${name} with (force)`);
      await admin.script(`drop role ${reader}`);
      await admin.end();
    },
  };
}

export type Source = Awaited<ReturnType<typeof createSource>>;

/** A small application's own tables. */
export async function createTables({ owner, reader }: Source): Promise<void> {
  await owner.script(`
    create table plans (code text primary key, title text not null, months int not null, active boolean not null);
    create table subs (
      id text primary key, customer text not null, plan text not null references plans, state text not null,
      price numeric(10, 2) not null, started_at timestamptz not null, ended_at timestamptz,
      updated_at timestamptz not null
    );
    create table charges (
      id text primary key, sub text not null references subs, ok boolean not null,
      amount numeric(10, 2) not null, at timestamptz not null
    );
    insert into plans values ('box', 'Monthly box', 1, true), ('year', 'Yearly box', 12, true);
    insert into subs values
      ('s-1', 'c-1', 'box', 'on', 20, '2026-01-05', null, '2026-01-05'),
      ('s-2', 'c-2', 'year', 'off', 120, '2026-02-05', '2026-05-05', '2026-05-05'),
      ('s-3', 'c-1', 'box', 'on', 30, '2026-03-05', null, '2026-03-05');
    insert into charges values
      ('p-1', 's-1', true, 20, '2026-01-05'), ('p-2', 's-1', false, 20, '2026-02-05');
    grant select on plans, subs, charges to ${reader}`);
}

const mapping = (...records: readonly object[]) => ({
  input: { format: 'ndjson' },
  formats: { ids: 'text', time: 'iso' },
  records,
});

export const planStream = {
  name: 'plans',
  query: 'select * from plans',
  key: ['code'],
  complete: true,
  mapping: mapping({
    type: 'plan',
    fields: {
      id: 'code',
      name: 'title',
      planType: { value: 'subscription' },
      intervalUnit: { value: 'month' },
      intervalCount: 'months',
      active: 'active',
    },
  }),
};

export const subscriptionStream = {
  name: 'subscriptions',
  query: 'select * from subs -- of all states',
  key: ['id'],
  cursor: 'updated_at',
  mapping: mapping({
    type: 'subscription',
    fields: {
      id: 'id',
      customerId: 'customer',
      planId: 'plan',
      status: { column: 'state', table: { on: 'active', off: 'cancelled' } },
      createdAt: 'started_at',
      updatedAt: 'updated_at',
    },
    lines: {
      fields: {
        productId: { value: 1 },
        variantId: { value: 1 },
        productTitle: 'plan',
        quantity: { value: 1 },
        currentPrice: 'price',
      },
    },
    statusEvents: [{ at: 'ended_at', to: { value: 'cancelled' } }],
  }),
};

export const chargeStream = {
  name: 'charges',
  query: "select *, to_char(at, 'YYYY-MM') as cycle from charges",
  key: ['id'],
  cursor: 'at',
  mapping: mapping({
    type: 'payment',
    fields: {
      id: 'id',
      subscriptionId: 'sub',
      cycle: 'cycle',
      status: { column: 'ok', table: { true: 'succeeded', false: 'failed' } },
      amount: 'amount',
      processedAt: 'at',
    },
  }),
};
