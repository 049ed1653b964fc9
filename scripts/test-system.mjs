/** `npm run test:system`: tests commands on whole runs (test/system). Arguments are passed to vitest. */
process.env.RETRACE_TESTS = 'system';
process.argv.splice(2, 0, 'test/system');
await import('./test.mjs');
