/** `npm run test:faults`: what the log and the store hold, whatever breaks (test/faults, and the log on a broker that fails). Arguments are passed to vitest. */
process.env.RETRACE_TESTS = 'faults';
process.argv.splice(2, 0, 'test/faults', 'kafka-faults.kafka.spec.ts');
await import('./test.mjs');
