import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { throwawayFolder } from '../cli/process.ts';

/** Why tests that need certificates are skipped; false if they can be created. */
export const opensslMissing: false | string =
  spawnSync('openssl', ['version']).status !== 0 && 'openssl is not available on this machine';

if (opensslMissing !== false && process.env['CI']) {
  throw new Error('openssl is not installed, and in CI no test may be skipped.');
}

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Authority {
  readonly certFile: string;
  /**
   * @param names in subjectAltName format: `DNS:localhost`, `IP:127.0.0.1`
   * @param validity start and end, in openssl's time format: `20260101000000Z`
   */
  issue(names: string, validity?: readonly [from: string, until: string]): Certificate;
}

/** A certificate authority in a separate folder, which is deleted when the test file ends. */
export function createAuthority(): Authority {
  const folder = throwawayFolder();
  chmodSync(folder, 0o755);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test CA');
  writeFileSync(path.join(folder, 'index.txt'), '');
  let issued = 0;
  return {
    certFile: path.join(folder, 'ca.pem'),
    issue(names, [from, until] = ['20200101000000Z', '20991231235959Z']) {
      issued += 1;
      const [key, request, cert] = ['key', 'csr', 'pem'].map((end) => `${issued}.${end}`) as [
        string,
        string,
        string,
      ];
      writeFileSync(
        path.join(folder, `${issued}.cnf`),
        `[ca]\ndefault_ca=ours\n[ours]\ndatabase=index.txt\nnew_certs_dir=.\nrand_serial=yes\n` +
          `default_md=sha256\npolicy=any\nunique_subject=no\nx509_extensions=extensions\n` +
          `[any]\ncommonName=supplied\n[extensions]\nsubjectAltName=${names}\n`,
      );
      openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=test ${issued}`);
      const signed = [
        '-cert',
        'ca.pem',
        '-keyfile',
        'ca.key',
        '-startdate',
        from,
        '-enddate',
        until,
      ];
      openssl('ca', '-batch', '-config', `${issued}.cnf`, '-in', request, '-out', cert, ...signed);
      const keyFile = path.join(folder, key);
      chmodSync(keyFile, 0o600);
      // As root, tests run the server as this user (test/support/postgres.ts).
      if (process.getuid?.() === 0) chownSync(keyFile, 65534, 65534);
      return { certFile: path.join(folder, cert), keyFile };
    },
  };
}
