/**
 * Compiles Retrace's own ops for every generation of processors up to this one, and runs the suites of ops, generation and optimizer
 * with each.
 *
 *   npm run test:long -- processors
 */
import { usableProcessors } from '@retrace/compute';
import { testNativeOps } from '../support/native-ops-suites.mjs';

testNativeOps({
  title: "Retrace's own ops on older processors",
  settings: usableProcessors().map((processor) => ({
    name: processor,
    environment: { RETRACE_PROCESSOR: processor },
  })),
});
