/**
 * What the audit log has entries of, each with how its sentence goes on after who did it. What it was done to stands for
 * {target}.
 */
export const acts = {
  signed_in: 'signed in',
  sign_in_failed: 'gave a wrong password for {target}',
  sign_in_locked: 'gave a wrong password for {target}, and must wait before the next attempt',
  unknown_sign_in_failed: 'failed to sign in with an address that has no account',
  sign_ins_omitted: 'left out {target} failed attempts to sign in, which came too fast',
  second_factor_failed: 'gave a wrong second factor for {target}',
  signed_out: 'signed out',
  sessions_ended: 'signed out everywhere',
  session_ended: 'ended the session {target}',
  other_sessions_ended: 'signed out everywhere else',
  name_changed: 'changed their name',
  password_changed: 'changed the password',
  password_removed: 'lost the password to single sign-on, which gave access to another shop',
  password_set: 'set a new password with a link',
  factor_added: 'added {target} as a second factor',
  factor_removed: 'removed {target} as a second factor',
  factors_reset: 'removed all second factors of {target}',
  recovery_codes_made: 'made new recovery codes',
  recovery_code_used: 'used a recovery code, of which {target} are left',
  second_factor_required: 'made a second factor {target} for all members',
  reset_link_made: 'asked for a link that resets the password of {target}',
  owner_invited: 'invited {target}',
  owner_added: 'joined the team',
  invitation_withdrawn: 'withdrew the invitation of {target}',
  role_set: 'gave another role to {target}',
  owner_removed: 'removed {target} from the team',
  member_left: 'left the team',
  sso_set_up: 'set up single sign-on with {target}',
  sso_domain_verified: 'verified the domain {target}',
  sso_removed: 'removed single sign-on with {target}',
  sso_role_given: 'got the role {target} by single sign-on',
  sso_refused: 'was refused by single sign-on: {target}',
  key_created: 'created the key {target}',
  key_rotated: 'rotated the key {target}',
  key_revoked: 'revoked the key {target}',
  key_networks_set: 'changed the networks of the key {target}',
  key_leaked: 'revoked the leaked key {target}',
  key_policy_set: 'set how long keys may live: {target}',
  key_uninstalled: 'revoked the key {target}, because the app was uninstalled',
  source_created: 'created the push source {target}',
  source_rotated: 'rotated the secret of the push source {target}',
  source_revoked: 'revoked the push source {target}',
  platform_connected: 'connected the shop to {target}',
  platform_disconnected: 'disconnected the shop from {target}',
  customer_key_replaced: 'replaced the key of hashed customer addresses',
  import_started: 'started an import of {target}',
  file_uploaded: 'uploaded a file of {target}',
  rows_exported: 'exported {target}',
  shop_created: 'created the shop on the tier {target}',
  tier_set: 'moved the shop to the tier {target}',
  retention_set: 'set how long records are kept: {target}',
  shop_moved: 'moved shop {target}',
  shop_copied: 'copied shop {target}',
  shop_deleted: 'deleted everything of shop {target}',
  entries_pruned: 'removed the entries of this log up to number {target}',
} as const;

export type Act = keyof typeof acts;

export const actNames = Object.keys(acts) as readonly Act[];

/** What the page of keys shows. */
export const keyActs = actNames.filter((act) => act.startsWith('key_'));

/** Who does something, and from where. */
export interface Actor {
  /** `owner` or `platform` with the id or name, `command line`, `visitor` (not signed in), or `service`. */
  readonly who: string;
  /** Which of the owner's sessions, by an id that is no secret, or which command. */
  readonly session?: string;
  /** The /24 or /48 of the address; null if it is unknown. */
  readonly network?: string | null | undefined;
}

/** The id of the owner that a text of an entry begins with: who did something, or to whom it was done. */
export function ownerIdIn(text: string): string | undefined {
  return /^owner ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: |$)/.exec(text)?.[1];
}

/** Somebody who is given a role, as entries have it. */
export const withRole = (ownerId: string, role: string) => `owner ${ownerId} (${role})`;

/** Somebody who is not signed in. */
export const visitor = (network: string | null): Actor => ({ who: 'visitor', network });

const known: ReadonlyMap<string, string> = new Map([
  ['command line', 'the command line'],
  ['visitor', 'somebody not signed in'],
  ['service', 'the service'],
  ['platform', 'the platform'],
  ['platform github', 'GitHub'],
]);

/** People by `owner` and the id. */
export type People = ReadonlyMap<string, { readonly email: string; readonly name: string | null }>;

/** An owner at the beginning of a text of an entry. */
export const ownerPattern = /^owner \S+/;

/** Shows people and programs as people know them, and other texts as they are. */
export function nameOf(text: string, people: People): string {
  if (ownerPattern.test(text)) {
    return text.replace(ownerPattern, (owner) => {
      const { name = null, email = 'a former member' } = people.get(owner) ?? {};
      return name === null ? email : `${name} (${email})`;
    });
  }
  return (
    known.get(text) ?? text.replace(/^platform (.)/, (_, first: string) => first.toUpperCase())
  );
}

/** How an entry's sentence goes on after who did it. */
export function deedOf(
  { what, target }: { readonly what: string; readonly target: string | null },
  people: People,
): string {
  // A later version may have further acts.
  const words = Object.hasOwn(acts, what) ? acts[what as Act] : `${what} {target}`;
  // The id of a key or source is before its name; what was pruned, before its hash.
  const [, id, name, detail = ''] =
    /^((?:key|src)_\w+) (.+?)(, (?:found at|now) .+)?$/s.exec(target ?? '') ?? [];
  const [, number] = /^(\d+) [0-9a-f]{64}\b/.exec(target ?? '') ?? [];
  const shown =
    id === undefined ? (number ?? nameOf(target ?? '', people)) : `${name} (${id})${detail}`;
  return words.replace('{target}', () => shown);
}
