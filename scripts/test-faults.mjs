/** `npm run test:faults`: what the log and the store hold, whatever breaks (test/faults). Arguments are passed to vitest. */
process.env.RETRACE_TESTS = 'faults';
process.argv.splice(2, 0, 'test/faults');
await import('./test.mjs');
