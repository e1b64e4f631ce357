import type { Role } from '../vocabulary.ts';

export const roleNames: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  developer: 'Developer',
  analyst: 'Analyst',
};

/** What each role is for, as a sentence without its subject. */
export const roleSentences: Readonly<Record<Role, string>> = {
  owner:
    'Does everything: manages the team, keys and sources, and reads all figures and the audit log.',
  developer:
    'Connects systems: sources, console, usage and request log. Sees keys and can revoke one, but not make one. Sees no figures.',
  analyst: 'Reads all figures and lists.',
};

/** The rights in a shop that pages ask for, each with the roles that have it. */
export const rights = {
  member: ['owner', 'developer', 'analyst'],
  figures: ['owner', 'analyst'],
  integration: ['owner', 'developer'],
  ownership: ['owner'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type ShopRight = keyof typeof rights;

/** Whether somebody may give a role: only owners do, and none with a right that they lack. */
export function mayGrant(own: Role, role: Role): boolean {
  const granted = Object.keys(rights).filter((right) => may(role, right as ShopRight));
  return may(own, 'ownership') && granted.every((right) => may(own, right as ShopRight));
}

export function may(role: Role, right: ShopRight): boolean {
  const roles: readonly Role[] = rights[right];
  return roles.includes(role);
}
