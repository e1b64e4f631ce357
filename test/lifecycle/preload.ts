/** For the environment of a command: runs in each of its processes and threads before the program. */
export function preload(source: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}

/** Something that stays open, as on a machine that is too slow to close everything. */
export const lingering = preload('setInterval(() => {}, 1_000);');
