import { spawnSync } from 'node:child_process';
import path from 'node:path';

export const pythonFolder = path.join(import.meta.dirname, '../../clients/python');

/** The system's own Python has the packages of the system; another one may be first on the PATH. */
const programs = ['/usr/bin/python3', 'python3'];

/** A Python that has these modules. */
export function findPython(...modules: readonly string[]): string | undefined {
  const check =
    'import sys, importlib.util as util; sys.exit(not all(map(util.find_spec, sys.argv[1:])))';
  return programs.find((program) => spawnSync(program, ['-c', check, ...modules]).status === 0);
}

/** Why tests of the Python client are skipped; false if there is a Python. */
export const pythonMissing: false | string =
  findPython() === undefined && 'python3 is not available on this machine';

if (pythonMissing !== false && process.env['CI']) {
  throw new Error('python3 is not installed, and in CI no test may be skipped.');
}

export const python = findPython() ?? 'python3';

/** For the client as it is in its folder. */
export const pythonEnv = {
  ...process.env,
  PYTHONPATH: path.join(pythonFolder, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
};
