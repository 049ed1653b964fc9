import type { ValueFormat } from './chart-options';

export interface ChartDefinition {
  readonly title: string;
  /** One sentence on what the chart shows. */
  readonly note: string;
  readonly metrics: readonly { readonly name: string; readonly label: string }[];
  /** @defaultValue `'number'` */
  readonly format?: ValueFormat;
  readonly range?: readonly [number, number];
  /** Stacks the metrics as shares of their sum. */
  readonly isStacked?: boolean;
}

export const SUCCESS_CHART: ChartDefinition = {
  title: 'Success rate',
  note: 'Fraction of episodes that succeeded; dashed lines are baselines measured beside the run',
  metrics: [
    { name: 'rollout/success', label: 'Rollout' },
    { name: 'validation/success', label: 'Validation (greedy)' },
    { name: 'test/success', label: 'Test (greedy)' },
  ],
  format: 'fraction',
  range: [0, 1],
};

export const LOSS_CHART: ChartDefinition = {
  title: 'Loss',
  note: 'Loss of each update, with its policy and value terms',
  metrics: [
    { name: 'train/loss', label: 'Total' },
    { name: 'train/policyLoss', label: 'Policy' },
    { name: 'train/valueLoss', label: 'Value' },
  ],
};

export const DETAIL_CHARTS: readonly ChartDefinition[] = [
  {
    title: 'Return',
    note: 'Mean return of an episode: the sum of its rewards',
    metrics: [
      { name: 'rollout/return', label: 'Rollout' },
      { name: 'validation/return', label: 'Validation' },
    ],
  },
  LOSS_CHART,
  {
    title: 'Entropy (nats)',
    note: 'Mean entropy of the policy over action tokens',
    metrics: [{ name: 'train/entropy', label: 'Policy' }],
  },
  {
    title: 'KL divergence (nats per token)',
    note: 'Change of the policy within an update, and distance from the reference policy if the recipe has one (k3 estimate)',
    metrics: [
      { name: 'train/approximateKl', label: 'Update' },
      { name: 'train/kl', label: 'Reference' },
    ],
  },
  {
    title: 'Clip fraction',
    note: 'Fraction of action tokens whose probability ratio left the trust region',
    metrics: [{ name: 'train/clipFraction', label: 'Clipped' }],
    format: 'fraction',
  },
  {
    title: 'Groups',
    note: 'Groups of episodes in an update; without an option of the recipe, those with equal returns and those of one episode have advantage 0',
    metrics: [
      { name: 'train/numGroups', label: 'All' },
      { name: 'train/numEqualGroups', label: 'Equal returns' },
      { name: 'train/numSingletonGroups', label: 'One episode' },
    ],
    format: 'compact',
  },
  {
    title: 'Preference accuracy',
    note: 'Fraction of pairs whose better episode the policy has gained more on, relative to the reference policy',
    metrics: [{ name: 'preference/accuracy', label: 'Pairs' }],
    format: 'fraction',
    range: [0, 1],
  },
  {
    title: 'Implicit rewards',
    note: 'β times the log ratio of policy and reference, of the better and the worse episode of a pair',
    metrics: [
      { name: 'preference/chosenReward', label: 'Chosen' },
      { name: 'preference/rejectedReward', label: 'Rejected' },
      { name: 'preference/margin', label: 'Margin' },
    ],
  },
  {
    title: 'Shared anchors',
    note: 'Fraction of steps whose anchor another episode of the group has too: GiGPO compares those step by step',
    metrics: [{ name: 'train/sharedAnchorFraction', label: 'Steps' }],
    format: 'fraction',
  },
  {
    title: 'Gradient norm',
    note: 'Global norm of the gradient before clipping',
    metrics: [{ name: 'train/gradientNorm', label: 'Norm' }],
  },
  {
    title: 'Rollout throughput (per second)',
    note: 'Environment steps and generated tokens per second of wall time',
    metrics: [
      { name: 'rollout/environmentStepsPerSecond', label: 'Steps' },
      { name: 'rollout/generatedTokensPerSecond', label: 'Tokens' },
    ],
    format: 'compact',
  },
  {
    title: 'Training throughput (per second)',
    note: 'Tokens that the trainer processes per second',
    metrics: [{ name: 'train/tokensPerSecond', label: 'Tokens' }],
    format: 'compact',
  },
  {
    title: 'Staleness (versions)',
    note: 'Largest number of versions between the policy that acted and the policy that was trained',
    metrics: [{ name: 'train/stalenessMax', label: 'Maximum' }],
    format: 'compact',
  },
  {
    title: 'Collector time',
    note: 'Share of wall time that each activity takes in a round',
    metrics: [
      { name: 'time/generation', label: 'Generation' },
      { name: 'time/environment', label: 'Environment' },
      { name: 'time/log', label: 'Log' },
      { name: 'time/held', label: 'Held' },
      { name: 'time/idle', label: 'Idle' },
    ],
    format: 'fraction',
    range: [0, 1],
    isStacked: true,
  },
  {
    title: 'Trainer time',
    note: 'Share of wall time that each activity takes in an update',
    metrics: [
      { name: 'time/read', label: 'Read' },
      { name: 'time/update', label: 'Update' },
      { name: 'time/checkpoint', label: 'Checkpoint' },
      { name: 'time/wait', label: 'Wait' },
    ],
    format: 'fraction',
    range: [0, 1],
    isStacked: true,
  },
  {
    title: 'Off-policy KL (nats per token)',
    note: 'Distance of the policy that trains from the policies that sampled',
    metrics: [
      { name: 'correction/kl', label: 'k1' },
      { name: 'correction/klK3', label: 'k3' },
    ],
  },
  {
    title: 'Effective sample size',
    note: 'As a fraction of the tokens: of the raw probability ratios, and of the importance weights of the recipe',
    metrics: [
      { name: 'correction/effectiveSampleFraction', label: 'Ratios' },
      { name: 'correction/weightEffectiveSampleFraction', label: 'Weights' },
    ],
    format: 'fraction',
    range: [0, 1],
  },
  {
    title: 'Rejected by the correction',
    note: 'Fraction of tokens that the rollout correction rejected, and of sequences that have such a token',
    metrics: [
      { name: 'correction/rejectedFraction', label: 'Tokens' },
      { name: 'correction/touchedSequenceFraction', label: 'Sequences' },
    ],
    format: 'fraction',
  },
  {
    title: 'KL coefficient',
    note: 'Weight of the KL divergence from the reference policy, adapted after each update',
    metrics: [{ name: 'train/klCoefficient', label: 'β' }],
  },
  {
    title: 'Explained variance',
    note: 'Of the returns, by the critic: 1 is perfect, 0 is no better than predicting the mean',
    metrics: [{ name: 'train/explainedVariance', label: 'Critic' }],
  },
  {
    title: 'Invalid actions',
    note: 'Fraction of actions that the environment did not recognize or refused',
    metrics: [{ name: 'rollout/invalidActionFraction', label: 'Rollout' }],
    format: 'fraction',
  },
  {
    title: 'Episode length (steps)',
    note: 'Mean number of steps of an episode',
    metrics: [{ name: 'rollout/numSteps', label: 'Rollout' }],
  },
  {
    title: 'On-policy check',
    note: 'Largest |ratio − 1| on fresh tokens; near 0 while trainer and collector agree on logprobs',
    metrics: [{ name: 'train/ratioMaxDeviation', label: 'Maximum' }],
  },
  {
    title: 'Learning rate',
    note: 'Learning rate by the schedule of the recipe',
    metrics: [{ name: 'train/learningRate', label: 'Rate' }],
  },
];

/** Names of the metrics of all charts. */
export const CHARTED_METRICS: readonly string[] = [SUCCESS_CHART, ...DETAIL_CHARTS].flatMap(({ metrics }) =>
  metrics.map(({ name }) => name),
);
