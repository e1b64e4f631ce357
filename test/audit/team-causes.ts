import assert from 'node:assert/strict';
import type { Act } from '../../src/acts.ts';
import { type Visitor, newEmail } from '../owner/visitor.ts';
import type { Done } from './causes.ts';
import { session } from './session.ts';

interface Place {
  readonly shop: string;
  /** An owner of the shop who has just signed in. */
  owner(): Promise<{ readonly email: string; readonly visitor: Visitor; readonly who: string }>;
  /** How the audit log has somebody with an address. */
  idOf(email: string): Promise<string>;
  command(args: readonly string[]): Promise<string>;
}

/** What the acts about a shop's team are caused by. */
export const teamCauses = ({ shop, command, owner, idOf }: Place) =>
  ({
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
  }) as const satisfies Readonly<Partial<Record<Act, () => Promise<() => Promise<Done>>>>>;
