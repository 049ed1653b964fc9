import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './cli.mjs';
import { runVitest } from './vitest-report.mjs';

const SUITES = [
  'libs/compute/src/ops',
  'libs/policy/src/model/attention.spec.ts',
  'libs/policy/src/generation',
  'libs/policy/src/optimizer',
];
const retrace = join(root, 'apps', 'cli', 'bin', 'retrace.mjs');

/**
 * Installs the backend under each environment, checks that it opens with Retrace's own ops, runs the suites of ops, generation and
 * optimizer, and records how many tests passed. The process exits with 1 when a test fails or none ran.
 *
 * @param {{ title: string, settings: readonly { name: string, environment: NodeJS.ProcessEnv }[] }} job
 */
export function testNativeOps({ title, settings }) {
  const figures = settings.flatMap(({ name, environment: named }) => {
    const environment = { ...process.env, ...named };
    execFileSync(process.execPath, [retrace, 'backend', 'install'], { stdio: 'inherit', env: environment });
    console.log(`${name}: ${requireNativeOps(environment)}`);
    const { report } = runVitest(SUITES, environment);
    if (report === null) throw new Error(`Vitest wrote no report for ${name}`);
    const { numPassedTests, numFailedTests, numPendingTests } = report;
    if (numFailedTests > 0 || numPassedTests === 0) process.exitCode = 1;
    return [
      { name: `${name}: tests passed`, value: numPassedTests },
      { name: `${name}: tests failed`, value: numFailedTests },
      { name: `${name}: tests skipped`, value: numPendingTests },
    ];
  });
  console.log(figures.map(({ name, value }) => `${name}: ${value}`).join('\n'));
  if (process.env.RETRACE_RESULT_FILE)
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}

/** Checks that Retrace's own ops are loaded: without them the suites pass as well, on ops composed of TensorFlow's. Returns the backend's description. */
function requireNativeOps(environment) {
  const program = `
    const { openBackend } = await import('@retrace/compute');
    const { version, reason } = await openBackend({ prefer: ['tensorflow'] });
    console.log(JSON.stringify({ version, reason }));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    encoding: 'utf8',
    env: environment,
  });
  const { version, reason } = JSON.parse(output.trim().split('\n').at(-1));
  const asked = environment.RETRACE_TENSORFLOW || version;
  if (reason.includes('without the fused ops') || version !== asked)
    throw new Error(`Expected TensorFlow ${asked} with Retrace's own ops; opened ${reason}`);
  return reason;
}
