/** Set-up file of vitest: notes the processor seconds of each spec file, and of the processes that it waited for, for `spec-seconds-reporter.mjs`. */
import { afterAll } from 'vitest';
import { readProcessorTime } from './processor-time.mjs';

const before = readProcessorTime();

// Hooks end in the reverse of their order, so this one is the last of the file.
// oxlint-disable-next-line no-empty-pattern -- vitest reads the names of fixtures from the first parameter
afterAll(({}, suite) => {
  const after = readProcessorTime();
  if (before === null || after === null) return;
  suite.file.meta.processorSeconds = after.own - before.own + after.ofChildren - before.ofChildren;
});
