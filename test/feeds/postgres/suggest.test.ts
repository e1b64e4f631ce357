import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMerchant } from './merchant.ts';
import { createTables } from './source.ts';
import { openSuggesting } from './suggesting.ts';

onMerchant('what there is to read of a merchant’s PostgreSQL', (at) => {
  const service = openSuggesting(at);

  test('suggests streams for an application’s own tables, as connecting reads them', async () => {
    await createTables(at.source);
    await at.source.owner.script(`
      create view payments as select id, sub as subscription_id,
        case when ok then 'paid' else 'declined' end as status, amount, at as paid_at from charges;
      create view refunds as select 1 / (length(id) - length(id)) as id from charges;
      create table members (id int, email text);
      grant select on payments, refunds to ${at.source.reader}; grant select (id) on members to ${at.source.reader}`);
    const { code, out, err } = await service.suggest(at.source);
    assert.equal(code, 0, err);
    assert.doesNotMatch(out, /of a reader|of%20a%20reader/);
    // The plans do not say when they were changed.
    assert.doesNotMatch(out, /"cursor"/);
    assert.match(err, /stream refunds: PostgreSQL at .* says: a division by zero/);
    assert.deepEqual(await service.follow(out), {
      subscriptions: [
        '2026-01-05 active 2026-01-05 for 1 x 20 every 1 month',
        '2026-02-05 cancelled 2026-05-05 for 1 x 120 every 12 month',
        '2026-03-05 active 2026-03-05 for 1 x 30 every 1 month',
      ],
      payments: ['2026-01-05 succeeded 20', '2026-02-05 failed 20'],
      refunds: [],
    });
  });

  test('says what it looked for where there is nothing', async () => {
    assert.match((await service.suggest(at.source)).err, /The login may read no table/);
    await at.source.owner.script(`
      create table visits (id int primary key, page text not null, at timestamptz not null);
      insert into visits select i, '/', now() from generate_series(1, 20) i;
      grant select on visits to ${at.source.reader}`);
    const { code, out, err } = await service.suggest(at.source);
    assert.deepEqual([code, out], [1, '']);
    assert.match(
      err,
      /No subscriptions were found\. Looked for the tables of .*stripe-sync-engine.*in public\.visits\./,
    );
  });

  test('opens the passwords that it printed with the same key only', async () => {
    await createTables(at.source);
    const { out } = await service.suggest(at.source);
    const other = await service.connect(out, {
      CREDENTIALS_KEY: Buffer.alloc(32).toString('base64'),
    });
    assert.equal(other.code, 1);
    assert.match(other.err, /CREDENTIALS_KEY lacks the key/);
  });
});
