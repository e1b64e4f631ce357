import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMerchant } from './merchant.ts';
import { openSuggesting } from './suggesting.ts';

/** Shapes of applications' own tables; all rows are made up. */
onMerchant('an application’s own tables', (at) => {
  const service = openSuggesting(at);
  const suggest = async (sql: string) => {
    const { owner, reader } = at.source;
    await owner.script(`${sql}; grant select on all tables in schema public to ${reader}`);
    const { code, out, err } = await service.suggest(at.source);
    return { code, out, err };
  };

  test('joins prices, and their products, by declared keys', async () => {
    const { out, err } = await suggest(`
      create type pricing_interval as enum ('month', 'year');
      create table users (id uuid primary key, full_name text);
      create table products (id text primary key, name text, description text);
      create table prices (id text primary key, product_id text references products, active boolean,
        unit_amount bigint, currency text, type text, "interval" pricing_interval, interval_count int);
      create table subscriptions (id text primary key, user_id uuid not null references users, status text,
        price_id text references prices, quantity int, created timestamptz not null, ended_at timestamptz);
      insert into users select md5(i::text)::uuid, 'Ann ' || i from generate_series(1, 4) i;
      insert into products values ('p-1', 'Hobby', 'Small');
      insert into prices values ('m-1', 'p-1', true, 1000, 'usd', 'recurring', 'month', 1),
        ('q-1', 'p-1', true, 2700, 'usd', 'recurring', 'month', 3), ('o-1', 'p-1', true, 500, 'usd', 'one_time', null, null);
      insert into subscriptions select 's-' || i, md5(i::text)::uuid, case when i = 4 then 'canceled' else 'active' end,
        case when i = 2 then 'q-1' when i < 4 then 'm-1' end, i, ('2026-01-0' || i)::timestamptz,
        case when i = 4 then '2026-03-01'::timestamptz end from generate_series(1, 4) i`);
    assert.match(
      out,
      /^ {8}"left join \\"public\\"\.\\"prices\\" \\"price\\" on \\"price\\"\.\\"id\\" = /m,
    );
    assert.match(err, /rows without "price_unit_amount" \(1 of those read\) are given "empty"/);
    assert.doesNotMatch(out, /full_name|description/);
    const { subscriptions } = await service.follow(out);
    // A subscription without a price stays a subscription.
    assert.deepEqual(subscriptions, [
      '2026-01-01 active 2026-01-01 for 1 x 10 every 1 month',
      '2026-01-02 active 2026-01-02 for 2 x 27 every 3 month',
      '2026-01-03 active 2026-01-03 for 3 x 10 every 1 month',
      '2026-01-04 cancelled 2026-03-01 for 4 x 0 every 1 month',
    ]);
    const plans = await at.store.write`
      select distinct name from plans where name like 'Hobby%' order by name`;
    assert.deepEqual(
      plans.map(({ name }) => name),
      ['Hobby 1 month', 'Hobby 3 month'],
    );
  });

  test('joins plans by names, and finds payments whose ids are numbers', async () => {
    const { out, err } = await suggest(`
      create table plans (id bigserial primary key, name varchar not null, amount_cents int not null,
        "interval" varchar not null, updated_at timestamp not null);
      create table old_plans (id bigserial primary key, name varchar not null, amount_cents int not null);
      create table subscriptions (id bigserial primary key, account_id bigint not null, plan_id bigint not null,
        state varchar not null, canceled_at timestamp, created_at timestamp not null, updated_at timestamp not null);
      create table invoices (id bigserial primary key, subscription_id bigint not null, total_cents int not null);
      create table payments (id bigserial primary key, invoice_id bigint not null references invoices,
        amount_cents int not null, status varchar not null, paid_at timestamp not null);
      insert into plans (name, amount_cents, "interval", updated_at)
        values ('Solo', 990, 'month', '2026-01-01'), ('Agency', 49900, 'year', '2026-01-01');
      insert into subscriptions (account_id, plan_id, state, canceled_at, created_at, updated_at) values
        (7, 1, 'active', null, '2026-01-05', '2026-01-05'), (8, 2, 'active', null, '2026-02-05', '2026-02-05'),
        (9, 1, 'canceled', '2026-04-01', '2026-03-05', '2026-04-01');
      insert into invoices (subscription_id, total_cents) values (1, 990), (2, 49900);
      insert into payments (invoice_id, amount_cents, status, paid_at)
        values (1, 990, 'paid', '2026-01-05'), (2, 49900, 'failed', '2026-02-05')`);
    // Whichever of both changes, the row is read again.
    assert.match(
      out,
      /greatest\(\\"subscriptions\\"\.\\"updated_at\\", \\"plan\\"\.\\"updated_at\\"\)/,
    );
    assert.match(err, /public\.invoices looks like payments, and is left out\. Missing: a date/);
    assert.deepEqual(await service.follow(out), {
      subscriptions: [
        '2026-01-05 active 2026-01-05 for 1 x 9.9 every 1 month',
        '2026-02-05 active 2026-02-05 for 1 x 499 every 1 year',
        '2026-03-05 cancelled 2026-04-01 for 1 x 9.9 every 1 month',
      ],
      payments: ['2026-01-05 succeeded 9.9', '2026-02-05 failed 499'],
      refunds: [],
    });
  });

  test('reads several lines of a subscription, each with its interval', async () => {
    const { out } = await suggest(`
      create table prices (id serial primary key, label text not null, amount numeric(10, 2) not null, billing_period text not null);
      create table subscriptions (id serial primary key, customer_id int not null, status text not null, started_at timestamptz not null);
      create table subscription_items (id serial primary key, subscription_id int not null references subscriptions,
        price_id int not null references prices, quantity int not null);
      insert into prices (label, amount, billing_period) values ('Seats', 12.5, 'month'), ('Storage', 60, 'year');
      insert into subscriptions (customer_id, status, started_at) select i, 'active', ('2026-01-0' || i)::timestamptz from generate_series(1, 3) i;
      insert into subscription_items (subscription_id, price_id, quantity) values (1, 1, 4), (2, 1, 1), (1, 2, 1)`);
    const { subscriptions } = await service.follow(out);
    assert.deepEqual(subscriptions, [
      '2026-01-01 active 2026-01-01 for 4 x 12.5 + 1 x 60 every 1 month',
      '2026-01-02 active 2026-01-02 for 1 x 12.5 every 1 month',
      '2026-01-03 active 2026-01-03 for 1 x 0 every 1 month',
    ]);
    const intervals = await at.store.write`
      select l.interval_unit as unit from subscription_lines l join subscriptions s using (shop_id, subscription_id)
      where l.current_price = 60 and s.created_at = '2026-01-01' limit 1`;
    assert.deepEqual(
      intervals.map(({ unit }) => unit),
      ['year'],
    );
  });

  test('takes the price for the interval that a subscription has', async () => {
    const { out } = await suggest(`
      create table billing_plan (id serial primary key, name text not null, price_monthly numeric(10, 2) not null, price_yearly numeric(10, 2));
      create table billing_subscription (id serial primary key, organization_id int not null, plan_id int not null references billing_plan,
        billing_cycle text not null, status text not null, created_at timestamptz not null);
      insert into billing_plan (name, price_monthly, price_yearly) values ('Team', 30, 300);
      insert into billing_subscription (organization_id, plan_id, billing_cycle, status, created_at) values
        (1, 1, 'monthly', 'active', '2026-01-01'), (2, 1, 'yearly', 'active', '2026-01-02')`);
    const { subscriptions } = await service.follow(out);
    assert.deepEqual(subscriptions, [
      '2026-01-01 active 2026-01-01 for 1 x 30 every 1 month',
      '2026-01-02 active 2026-01-02 for 1 x 300 every 1 year',
    ]);
  });

  test('marks what it cannot price, and never guesses which of several rows counts', async () => {
    const { out, err } = await suggest(`
      create table plans (id serial primary key, name text not null);
      create table plan_prices (id serial primary key, plan_id int not null references plans, amount_cents int not null, "interval" text not null);
      create table subscriptions (id serial primary key, user_id int not null, plan_id int not null references plans,
        status text not null, created_at timestamptz not null);
      create table subscription_addons (id serial primary key, subscription_id int not null references subscriptions, price int not null);
      insert into plans (name) values ('A');
      insert into plan_prices (plan_id, amount_cents, "interval") values (1, 1000, 'month'), (1, 1200, 'month');
      insert into subscriptions (user_id, plan_id, status, created_at) values (1, 1, 'active', '2026-01-01'), (2, 1, 'active', '2026-01-02')`);
    assert.match(err, /no column has the price of an interval; MRR is 0 without it/);
    assert.match(
      err,
      /public\.subscription_addons has lines of these subscriptions, which are not read/,
    );
    assert.match(out, /^ {6}\/\/ CHECK: public\.subscription_addons has lines/m);
    const { subscriptions } = await service.follow(out);
    assert.deepEqual(subscriptions, [
      '2026-01-01 active 2026-01-01 for 1 x 0 every 1 month',
      '2026-01-02 active 2026-01-02 for 1 x 0 every 1 month',
    ]);
  });

  test('looks at the tables that are most like billing, and says how many it left out', async () => {
    const others = Array.from(
      { length: 25 },
      (_, i) => `create table a${i} (id int primary key, page text)`,
    );
    const { code, err } = await suggest(`${others.join(';')};
      create table zz_contracts (id serial primary key, client_id int not null, monthly_fee numeric(8, 2) not null, status text not null, started_at timestamptz not null);
      insert into zz_contracts (client_id, monthly_fee, status, started_at) values (1, 20, 'active', '2026-01-01'), (2, 20, 'ended', '2026-01-02')`);
    assert.equal(code, 0, err);
    assert.match(err, /Only 20 of 26 tables were looked at, those most like billing\./);
  });
});
