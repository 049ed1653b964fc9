/**
 * Retrace's own ops as every generation of processors up to this one has them: compiled for it, then the suites of ops, generation and
 * optimizer.
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
