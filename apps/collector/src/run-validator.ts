import { join } from 'node:path';
import type { Supervised, ValidatorConfig } from '@retrace/process';
import { runRolloutRole, type RolloutParts, type SharedParts } from './run-rollout-role.js';
import { Validator, type Evaluation, type ValidatorOptions } from './validation/validator.js';

/**
 * Validates and tests the policies of one run until the run ends, or until the process is asked to stop.
 *
 * @param shared where the trainer is in the same process
 */
export async function runValidator(
  config: ValidatorConfig,
  supervised: Supervised,
  shared?: Pick<SharedParts, 'log' | 'known'>,
): Promise<void> {
  const { runId, spool } = config;
  await runRolloutRole(config, {
    supervised,
    source: 'validator',
    shared,
    lockName: `validator-${runId}`,
    spoolDirectory: spool && join(spool.directory, `${runId}-validator`),
    work: async (parts) => {
      const { detail, onValidated } = await serveMetrics(config, parts);
      supervised.send({ type: 'ready', detail: `${parts.backendReason}${detail}` });
      await new Validator({ ...parts, onStarted: logStart, onValidated }).run();
    },
  });
}

/** Shown by a supervisor in its JSON log only: in the terminal each version has one line, with its figures. */
function logStart({ policy, split, numTasks }: Evaluation): void {
  process.stderr.write(`debug validating policy ${policy.policyVersion} · ${split} · ${numTasks} tasks\n`);
}

/** Serves the metrics of this process where the configuration says so; `detail` tells the address. */
async function serveMetrics(
  { metricsAddress }: ValidatorConfig,
  { runId, recipe, control, writer }: Pick<RolloutParts, 'runId' | 'recipe' | 'control' | 'writer'>,
): Promise<{ readonly detail: string; readonly onValidated?: ValidatorOptions['onValidated'] }> {
  if (metricsAddress === null) return { detail: '' };
  const { ValidatorMetrics } = await import('./validation/validator-metrics.js');
  const metrics = new ValidatorMetrics({ runId, recipe, control, spoolBytes: () => writer.spoolBytes });
  const { url } = await metrics.serve(metricsAddress);
  return {
    detail: `; metrics at ${url}`,
    onValidated: (validated) => {
      metrics.add(validated);
    },
  };
}
