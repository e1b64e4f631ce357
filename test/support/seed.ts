/**
 * The seed of random cases. It is the same for every run, so that a failure is caused by a change; set
 * TEST_SEED to try others.
 */
export const seed = Number(process.env['TEST_SEED'] ?? 20_261_120);

const times = Number(process.env['TEST_RUNS'] ?? 1);

/** How often work is killed, each time at another point; TEST_RUNS=4 kills it four times as often. */
export const kills = Math.ceil(3 * times);

/** The number of cases per property, the same on every machine; TEST_RUNS=10 runs ten times as many. */
export const runs = (numRuns: number) => ({ numRuns: Math.ceil(numRuns * times), seed });
