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
const rootsByFile = new Map<string, readonly string[]>();

function readRoots(file: string): string[] {
  let roots = rootsByFile.get(file);
  if (roots === undefined) {
    try {
      roots = listCertificates(readFileSync(file, 'utf8'));
    } catch (error) {
      throw new CommandError(
        `The file of sslrootcert, ${file}, cannot be read as certificates in PEM format: ${(error as Error).message}`,
        { cause: error },
      );
    }
    rootsByFile.set(file, roots);
  }
  return [...roots];
}

/** Node.js itself passes over what is no certificate, and then trusts fewer authorities, or none. */
function listCertificates(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (found === null) throw new Error('it has none');
  return found.map((text) => new X509Certificate(text).toString());
}
