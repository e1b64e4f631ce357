import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Store } from '../../src/store/open.ts';
import { onOwnDatabases } from '../support/own-databases.ts';
import { type PushWorld, push, startPushWorld } from './world.ts';

const session = {
  type: 'cancellation',
  id: 7001,
  detectedReason: 'too_expensive',
  createdAt: '2026-11-17T10:58:00Z',
};

onOwnDatabases('a batch that was stored without its job', (open) => {
  let store: Store;
  let world: PushWorld;
  before(async () => {
    store = open();
    world = await startPushWorld(store);
    // Opens the job queue.
    const { body } = await world.push([{ ...session, id: 1 }]);
    await world.finished(body.batchId);
    await store.write.script(`
      create function jobs.refuse() returns trigger language plpgsql as
        $$ begin raise exception 'no job is stored'; end $$`);
  });
  after(async () => {
    await world.close();
    await store.close();
  });

  const refuseJobs = () =>
    store.write.script(
      'create trigger refuse before insert on jobs.job for each row execute function jobs.refuse()',
    );
  const takeJobs = () => store.write.script('drop trigger refuse on jobs.job');
  const countOpen = async () => {
    const [row] = await store.write<{ count: number }[]>`
      select count(*)::int as count from ingest.batches
      where shop_id = ${world.shop.id} and finished_at is null`;
    return row?.count;
  };

  test('is not acknowledged, and is stored when the sender repeats it', async () => {
    const id = randomUUID();
    await refuseJobs();
    const refused = await push(world.baseUrl, world.source, [session], { id }).finally(takeJobs);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60']);
    assert.equal(await countOpen(), 1);

    const { status, body } = await world.push([session], { id });
    assert.equal(status, 202);
    const { outcomes } = await world.finished(body.batchId);
    assert.equal(outcomes['stored'], 1);
  });
});
