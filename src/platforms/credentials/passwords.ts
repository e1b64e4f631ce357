import type { Sealing } from './sealing.ts';

type Given = Readonly<Record<string, unknown>>;

/** How a sealed password begins in an address. */
const prefix = 'sealed.';
/** What it belongs to. */
const context = 'a password that was suggested';

/**
 * Encrypts the passwords in addresses, so that credentials can be printed and given back.
 * @throws CommandError without a key
 */
export function sealPasswords(given: Given, sealing: Sealing): Given {
  return withPasswords(given, (password) => {
    const sealed = Buffer.from(sealing.seal(password, context), 'base64');
    return prefix + sealed.toString('base64url');
  });
}

/** @throws CommandError if they were encrypted with another key */
export function openPasswords(given: Given, sealing: Sealing): Given {
  return withPasswords(given, (password) =>
    password.startsWith(prefix) ? sealing.open(password.slice(prefix.length), context) : password,
  );
}

function withPasswords(given: Given, change: (password: string) => string): Given {
  const entries = Object.entries(given).map(([name, value]) => {
    const url = typeof value === 'string' ? URL.parse(value) : null;
    if (!url?.password) return [name, value] as const;
    const password = change(decodeURIComponent(url.password));
    url.password = encodeURIComponent(password);
    return [name, url.href] as const;
  });
  return Object.fromEntries(entries);
}
