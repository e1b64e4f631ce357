import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { tlsSettingsOf } from '../database-url.ts';
import { CommandError } from '../errors.ts';

/**
 * What the driver is told of TLS for an address.
 * @param host the one that the address names; undefined where it names several
 * @throws CommandError when the file with root certificates cannot be used
 */
export function tlsOptionsOf(
  address: string,
  host: string | undefined,
): false | 'prefer' | 'require' | ConnectionOptions {
  const { mode, rootFile } = tlsSettingsOf(address);
  // Said outright, since an environment variable of Node.js can turn the default around.
  const verified = {
    rejectUnauthorized: true,
    ...(rootFile !== undefined && { ca: readRoots(rootFile) }),
  };
  switch (mode) {
    case 'disable':
      return false;
    case 'prefer':
    case 'require':
      return mode;
    case 'verify-ca':
      return { ...verified, checkServerIdentity: () => undefined };
    case 'verify-full':
      return {
        ...verified,
        // The driver gives Node.js no name to check where the host is an IP address, and Node.js then
        // checks for "localhost". Of several hosts, all names, it does give the one it connects to.
        checkServerIdentity: (name, certificate) => checkServerIdentity(host ?? name, certificate),
      };
  }
}

/** Kept, so that connections that are made later cannot fail because of a file. */
const rootsByFile = new Map<string, string>();

function readRoots(file: string): string {
  let roots = rootsByFile.get(file);
  if (roots === undefined) {
    try {
      roots = readFileSync(file, 'utf8');
      // Node.js itself passes over a file without a certificate, and then trusts none.
      new X509Certificate(roots);
    } catch (error) {
      throw new CommandError(
        `The file of sslrootcert, ${file}, cannot be read as certificates in PEM format: ${(error as Error).message}`,
        { cause: error },
      );
    }
    rootsByFile.set(file, roots);
  }
  return roots;
}
