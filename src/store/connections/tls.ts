import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { TlsSettings } from '../../database-url.ts';
import { CommandError } from '../../errors.ts';

/** How connections to an address are encrypted. */
export interface Tls {
  /** Undefined where none are. */
  readonly options: ConnectionOptions | undefined;
  /** A server without TLS will do, too. */
  readonly isOptional: boolean;
}

/** @throws CommandError when the file with root certificates cannot be used */
export function tlsOf({ mode, rootFile }: TlsSettings): Tls {
  // Said outright, since an environment variable of Node.js can turn the default around.
  const verified = {
    rejectUnauthorized: true,
    ...(rootFile !== undefined && { ca: readRoots(rootFile) }),
  };
  const options: Readonly<Record<TlsSettings['mode'], ConnectionOptions | undefined>> = {
    disable: undefined,
    prefer: { rejectUnauthorized: false },
    require: { rejectUnauthorized: false },
    'verify-ca': { ...verified, checkServerIdentity: () => undefined },
    'verify-full': verified,
  };
  return { options: options[mode], isOptional: mode === 'prefer' };
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
