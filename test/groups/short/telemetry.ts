import { runTogether } from '../../support/together.ts';

// Metrics and traces.
await runTogether('test/telemetry/*.test.ts');
