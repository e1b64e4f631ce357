/**
 * Where random cases begin. It is the same at every run, so that a red run is the change's fault;
 * TEST_SEED tries others.
 */
export const seed = Number(process.env['TEST_SEED'] ?? 20_261_120);

const times = Number(process.env['TEST_RUNS'] ?? 1);

/** The cases that a property is tried with: as many whatever the machine; TEST_RUNS=10 for ten times as many. */
export const runs = (numRuns: number) => ({ numRuns: Math.ceil(numRuns * times), seed });
