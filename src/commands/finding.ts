import { redact } from '../log/log.ts';

/** What `doctor` found out. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** Nothing is broken, but the operator should know. */
  readonly warning?: true;
  readonly detail: string;
}

export function failure(check: string, error: unknown): Finding {
  const detail = redact(error instanceof Error ? error.message : String(error));
  return { check, ok: false, detail };
}
