/** What `doctor` found out. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** Nothing is broken, but the operator should know. */
  readonly warning?: true;
  readonly detail: string;
}
