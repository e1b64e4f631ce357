/** Reads one variable; one that is wrong is reported with the others. @param expected completes "must be …" */
export type Check = <T>(
  name: string,
  fallback: T,
  parse: (text: string) => T | undefined,
  expected: string,
) => T;
