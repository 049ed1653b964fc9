import type { OptimizerRecipe } from '@retrace/config';
import type { StepGuard } from './step-guard.js';
import type { UpdateOutcome } from './optimizer-steps.js';

/** Names and values, in the order in which they are recorded. */
export type MetricEntries = readonly (readonly [name: string, value: number])[];

/** Metrics that updates of every stage have. */
export function outcomeMetrics(outcome: UpdateOutcome, learningRate: number): MetricEntries {
  return [
    ['train/loss', outcome.loss],
    ['train/policyLoss', outcome.policyLoss],
    ['train/entropy', outcome.entropy],
    ['train/gradientNorm', outcome.gradientNorm],
    ['train/criticGradientNorm', outcome.criticGradientNorm],
    ['train/learningRate', learningRate],
  ];
}

/** How many steps the guard skipped; empty without `optimizer.guard`. */
export function guardMetrics(
  { optimizer }: { readonly optimizer: Pick<OptimizerRecipe, 'guard'> },
  { numSkipped, isStopped }: Pick<StepGuard, 'numSkipped' | 'isStopped'>,
): MetricEntries {
  if (!optimizer.guard) return [];
  return [
    ['train/numSkippedSteps', numSkipped],
    ['train/isStoppedEarly', Number(isStopped)],
  ];
}

/** Leaves out values that were not measured, which are NaN. */
export function measured(metrics: MetricEntries): MetricEntries {
  return metrics.filter(([, value]) => !Number.isNaN(value));
}
