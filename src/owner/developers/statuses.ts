import type { Tone } from '../ui/labels.ts';

/** The status of a response, with a dot that says whether the request succeeded. */
export function statusState(
  status: number,
  label = String(status),
): readonly [label: string, tone: Tone] {
  if (status >= 500) return [label, 'bad'];
  return [label, status >= 400 ? 'attention' : 'good'];
}

/** The standard text of each status. An import of node:http would load its whole client for the web, too. */
export const statusTexts = process.getBuiltinModule('node:http').STATUS_CODES;
