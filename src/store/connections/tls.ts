import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type { TlsSettings } from '../../config/database-url.ts';
import { CommandError } from '../../errors.ts';

/** TLS options for connections to an address. */
export interface Tls {
  /** Undefined for connections without TLS. */
  readonly options: ConnectionOptions | undefined;
  /** Whether to fall back to a server without TLS. */
  readonly isOptional: boolean;
}

/** @throws CommandError if the file with root certificates cannot be used */
export function tlsOf({ mode, rootFile }: TlsSettings): Tls {
  // Explicit, because an environment variable of Node.js can change the default.
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

/** Cached, so that later connections cannot fail because of the file. */
const rootsByFile = new Map<string, readonly string[]>();

function readRoots(file: string): string[] {
  let roots = rootsByFile.get(file);
  if (roots === undefined) {
    try {
      roots = listCertificates(readFileSync(file, 'utf8'));
    } catch (error) {
      throw new CommandError(
        `Cannot read the sslrootcert file ${file} as PEM certificates: ${(error as Error).message}`,
        { cause: error },
      );
    }
    rootsByFile.set(file, roots);
  }
  return [...roots];
}

/** Node.js silently ignores invalid certificates and would then trust fewer authorities, or none. */
function listCertificates(pem: string): string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g);
  if (found === null) throw new Error('it contains none');
  return found.map((text) => new X509Certificate(text).toString());
}
