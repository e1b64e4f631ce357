import assert from 'node:assert/strict';
import type { Act } from '../../src/acts.ts';
import { Visitor, newEmail, password, signIn } from '../owner/visitor.ts';
import { type Causes, type Place, session } from './cause.ts';

/** What the acts of people and teams are caused by. */
export function teamCauses({ shop, baseUrl, command, idOf, owner }: Place) {
  return {
    session_ended: async () => {
      const { email, visitor, who } = await owner();
      await signIn(baseUrl, email);
      const { text } = await visitor.get('/app/account');
      const [, id = ''] = /name="session" value="([0-9a-f]{12})"/.exec(text) ?? [];
      return async () => {
        await visitor.post('/app/account/sessions', { session: id });
        return { entry: [who, session, id] };
      };
    },
    other_sessions_ended: async () => {
      const { email, visitor, who } = await owner();
      await signIn(baseUrl, email);
      await visitor.get('/app/account');
      return async () => {
        await visitor.post('/app/account/sessions', { session: 'others' });
        return { entry: [who, session, null] };
      };
    },
    name_changed: async () => {
      const { visitor, who } = await owner();
      await visitor.get('/app/account');
      return async () => {
        await visitor.post('/app/account/name', { name: 'Ana Silva' });
        return { entry: [who, session, null] };
      };
    },
    owner_invited: async () => async () => {
      const email = newEmail();
      await command(['owners', 'invite', '--shop', shop, '--email', email]);
      return { entry: ['command line', 'owners invite', `${await idOf(email)} (owner)`] };
    },
    owner_added: async () => {
      const email = newEmail();
      const link = await command(['owners', 'invite', '--shop', shop, '--email', email]);
      const visitor = new Visitor(baseUrl);
      const { pathname } = new URL(link.trim());
      await visitor.get(pathname);
      return async () => {
        assert.equal((await visitor.post(pathname, { password })).status, 303);
        return { entry: [await idOf(email), session, null] };
      };
    },
    owner_removed: async () => {
      const { email, who } = await owner();
      return async () => {
        await command(['owners', 'remove', '--shop', shop, '--email', email]);
        return { entry: ['command line', 'owners remove', who] };
      };
    },
    role_set: async () => {
      const { visitor, who } = await owner();
      const other = await owner();
      const page = `/app/shops/${shop}/team/${other.who.slice('owner '.length)}`;
      await visitor.get(page);
      return async () => {
        assert.equal((await visitor.post(page, { role: 'analyst' })).status, 303);
        // The role that somebody has already is no change.
        assert.equal((await visitor.post(page, { role: 'analyst' })).status, 303);
        return { entry: [who, session, `${other.who} (analyst)`] };
      };
    },
    invitation_withdrawn: async () => {
      const email = newEmail();
      await command(['owners', 'invite', '--shop', shop, '--email', email, '--role', 'analyst']);
      const invited = await idOf(email);
      return async () => {
        await command(['owners', 'remove', '--shop', shop, '--email', email]);
        return { entry: ['command line', 'owners remove', invited] };
      };
    },
    member_left: async () => {
      const { visitor, who } = await owner();
      await visitor.get(`/app/shops/${shop}/leave`);
      return async () => {
        const { location } = await visitor.post(`/app/shops/${shop}/leave`);
        assert.equal(location, '/app/sign-in?done=left');
        return { entry: [who, session, null] };
      };
    },
  } satisfies Partial<Causes<Act>>;
}
