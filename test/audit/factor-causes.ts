import assert from 'node:assert/strict';
import type { Act } from '../../src/acts.ts';
import { systemClock } from '../../src/clock.ts';
import { addApp, beginSignIn, giveCode } from '../owner/factors/app.ts';
import { type Causes, type Place, session } from './cause.ts';

/** What the acts about second factors are caused by. */
export const factorCauses = ({ baseUrl, shop, owner, command }: Place) =>
  ({
    second_factor_failed: async () => {
      const { email, visitor, who } = await owner();
      await addApp(visitor, systemClock.now());
      const asked = await beginSignIn(baseUrl, email);
      return async () => {
        assert.equal((await giveCode(asked, '000')).status, 422);
        return { entry: ['visitor', null, who] };
      };
    },
    recovery_code_used: async () => {
      const { email, visitor, who } = await owner();
      const { codes } = await addApp(visitor, systemClock.now());
      const asked = await beginSignIn(baseUrl, email);
      return async () => {
        assert.equal((await giveCode(asked, codes[0] as string)).status, 303);
        return { entry: [who, null, '9 of 10'], also: ['signed_in'] };
      };
    },
    recovery_codes_made: async () => {
      const { visitor, who } = await owner();
      await addApp(visitor, systemClock.now());
      const page = await visitor.get('/app/account/factors');
      const [, made = ''] = /name="made" value="(\d+)"/.exec(page.text) ?? [];
      const replace = () => visitor.post('/app/account/factors/codes', { made });
      return async () => {
        assert.equal((await replace()).status, 201);
        // The same form makes no further ones.
        assert.equal((await replace()).status, 303);
        return { entry: [who, session, null] };
      };
    },
    factor_added: async () => {
      const { visitor, who } = await owner();
      return async () => {
        await addApp(visitor, systemClock.now());
        return { entry: [who, session, 'an authenticator app'], also: ['recovery_codes_made'] };
      };
    },
    factor_removed: async () => {
      const { visitor, who } = await owner();
      const { id } = await addApp(visitor, systemClock.now());
      await visitor.get('/app/account/factors');
      return async () => {
        for (const factor of [id, id]) {
          await visitor.post('/app/account/factors/remove', { factor });
        }
        return { entry: [who, session, 'an authenticator app'] };
      };
    },
    factors_reset: async () => {
      const { email, visitor, who } = await owner();
      await addApp(visitor, systemClock.now());
      return async () => {
        await command(['owners', 'reset-factors', '--email', email]);
        await command(['owners', 'reset-factors', '--email', email]);
        return { entry: ['command line', 'owners reset-factors', who] };
      };
    },
    second_factor_required: async () => {
      const { visitor, who } = await owner();
      await addApp(visitor, systemClock.now());
      const policy = `/app/shops/${shop}/second-factor`;
      await visitor.get(policy);
      await visitor.post(policy, { required: 'yes' });
      return async () => {
        for (const each of [{}, {}]) assert.equal((await visitor.post(policy, each)).status, 303);
        return { entry: [who, session, 'optional'] };
      };
    },
  }) satisfies Partial<Causes<Act>>;
