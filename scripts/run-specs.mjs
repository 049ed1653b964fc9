/** Runs vitest with the given arguments. Where `RETRACE_SPEC_REPORTS` names a folder, counts and seconds go there (`ci/spec-seconds-reporter.mjs`). */
import { fileURLToPath } from 'node:url';
import { root, runTool } from './run-tool.mjs';
import { join } from 'node:path';

const REPORTERS = [
  '--reporter=default',
  `--reporter=${join(root, 'scripts', 'ci', 'spec-seconds-reporter.mjs')}`,
];

/** @param {readonly string[]} args @returns {Promise<number>} the exit code */
export function runSpecs(args) {
  const reporters = process.env.RETRACE_SPEC_REPORTS ? REPORTERS : [];
  return runTool('tests', 'node_modules/vitest/vitest.mjs', ['run', ...args, ...reporters], {
    mayFail: true,
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await runSpecs(process.argv.slice(2));
