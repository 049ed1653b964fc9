/** `npm run test:faults`: checks that log and store lose and double nothing under faults (test/faults, the log on a failing broker, and sinks that are killed). Arguments are passed to vitest. */
process.env.RETRACE_TESTS = 'faults';
process.argv.splice(2, 0, 'test/faults', 'kafka-faults.kafka.spec.ts', 'sink/crash.spec.ts');
await import('./test.mjs');
