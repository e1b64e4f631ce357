import { runTogether } from '../../support/together.ts';

// Figures, whose random shops all files share.
await runTogether('test/metrics/*.test.ts');
