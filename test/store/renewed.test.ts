import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../../src/store/database.ts';
import { Sockets } from '../../src/store/sockets.ts';

const target = process.env['TEST_POSTGRES'];
const skip = target === undefined && 'PostgreSQL could not be had on this machine';

for (const readOnly of [true, false]) {
  test(
    `a connection that is lost with half a statement in hand is made anew (${readOnly ? 'reading' : 'writing'})`,
    { skip, timeout: 600_000 },
    async (t) => {
      const sockets = new Sockets();
      const sql = connect(target as string, {
        name: 'test',
        connections: 1,
        readOnly,
        statementTimeoutMilliseconds: 0,
        sockets,
      });
      t.after(() => sql.end());
      const one = async () => (await sql<{ one: number }[]>`select 1 as one`)[0]?.one;
      for (let round = 0; round < 20; round += 1) {
        assert.equal(await one(), 1);
        // Sent in the turn at whose end the driver learns of the loss, as look-ups of a turn are.
        sockets.reset();
        await new Promise(setImmediate);
        const lost = Promise.allSettled([one(), one()]);
        for (const each of await lost) assert.equal(each.status, 'rejected');
      }
      assert.equal(await one(), 1);
    },
  );
}
