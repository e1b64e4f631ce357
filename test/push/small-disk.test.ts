import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';

// With separate namespaces, any user may mount.
const [program, ...args] = ['unshare', '--map-root-user', '--mount'] as const;
const inNamespace = (...command: string[]) => spawnSync(program, [...args, ...command]);
const canMount = inNamespace('mount', '-t', 'tmpfs', 'tmpfs', '/mnt').status === 0;
const skip = !canMount && 'this system does not allow tests to mount a file system';

test(
  'an uploaded file that the disk has no room for is refused as such, and leaves nothing',
  { skip },
  () => {
    const receiver = path.join(import.meta.dirname, 'small-disk-receiver.ts');
    const { stdout, stderr } = inNamespace(
      'sh',
      '-c',
      'mount -t tmpfs -o size=64k tmpfs /mnt && exec "$0" "$1" /mnt',
      process.execPath,
      receiver,
    );
    assert.equal(String(stdout), '{"kind":"unwritable","isFull":true,"left":[]}', String(stderr));
  },
);
