import type { ValueFormat } from './chart-options';

export interface ChartDefinition {
  readonly title: string;
  /** What it tells, in one sentence. */
  readonly note: string;
  readonly metrics: readonly { readonly name: string; readonly label: string }[];
  readonly format: ValueFormat;
  readonly range?: readonly [number, number];
  readonly stackedShares?: boolean;
}

export const SUCCESS_CHART: ChartDefinition = {
  title: 'Success rate',
  note: 'Share of episodes that succeeded; dashed lines are baselines measured before the run',
  metrics: [
    { name: 'rollout/success', label: 'rollout' },
    { name: 'validation/success', label: 'validation (greedy)' },
    { name: 'test/success', label: 'test (greedy)' },
  ],
  format: 'fraction',
  range: [0, 1],
};

export const DETAIL_CHARTS: readonly ChartDefinition[] = [
  {
    title: 'Return',
    note: 'Mean sum of rewards of an episode',
    metrics: [
      { name: 'rollout/return', label: 'rollout' },
      { name: 'validation/return', label: 'validation' },
    ],
    format: 'number',
  },
  {
    title: 'Loss',
    note: 'Loss of the update, and its policy and value terms',
    metrics: [
      { name: 'train/loss', label: 'total' },
      { name: 'train/policyLoss', label: 'policy' },
      { name: 'train/valueLoss', label: 'value' },
    ],
    format: 'number',
  },
  {
    title: 'Entropy',
    note: 'Mean entropy of the policy over action tokens, in nats',
    metrics: [{ name: 'train/entropy', label: 'policy' }],
    format: 'number',
  },
  {
    title: 'KL divergence',
    note: 'In nats a token: of the step that the updates take, by k3, and from the reference policy where the recipe has one',
    metrics: [
      { name: 'train/approximateKl', label: 'step' },
      { name: 'train/kl', label: 'reference' },
    ],
    format: 'number',
  },
  {
    title: 'Clip fraction',
    note: 'Share of action tokens whose ratio left the trust region',
    metrics: [{ name: 'train/clipFraction', label: 'clipped' }],
    format: 'fraction',
  },
  {
    title: 'Gradient norm',
    note: 'Global norm before clipping',
    metrics: [{ name: 'train/gradientNorm', label: 'norm' }],
    format: 'number',
  },
  {
    title: 'Rollout throughput',
    note: 'Per second of wall time',
    metrics: [
      { name: 'rollout/environmentStepsPerSecond', label: 'env steps/s' },
      { name: 'rollout/generatedTokensPerSecond', label: 'tokens/s' },
    ],
    format: 'compact',
  },
  {
    title: 'Training throughput',
    note: 'Tokens trained on, per second',
    metrics: [{ name: 'train/tokensPerSecond', label: 'tokens/s' }],
    format: 'compact',
  },
  {
    title: 'Staleness',
    note: 'Most versions between the policy that acted and the one that was trained',
    metrics: [{ name: 'train/stalenessMax', label: 'max' }],
    format: 'number',
  },
  {
    title: 'Collector time',
    note: 'Where the wall time of a round went',
    metrics: [
      { name: 'time/generation', label: 'generation' },
      { name: 'time/environment', label: 'environment' },
      { name: 'time/log', label: 'log' },
      { name: 'time/idle', label: 'idle' },
    ],
    format: 'fraction',
    range: [0, 1],
    stackedShares: true,
  },
  {
    title: 'Trainer time',
    note: 'Where the wall time of an update went',
    metrics: [
      { name: 'time/read', label: 'read' },
      { name: 'time/update', label: 'update' },
      { name: 'time/checkpoint', label: 'checkpoint' },
      { name: 'time/wait', label: 'wait' },
    ],
    format: 'fraction',
    range: [0, 1],
    stackedShares: true,
  },
  {
    title: 'Explained variance',
    note: 'Of the returns, by the critic; 1 = perfect, 0 = no better than their mean',
    metrics: [{ name: 'train/explainedVariance', label: 'critic' }],
    format: 'number',
  },
  {
    title: 'Invalid actions',
    note: 'Share of actions the environment could not understand or refused',
    metrics: [{ name: 'rollout/invalidActionFraction', label: 'rollout' }],
    format: 'fraction',
  },
  {
    title: 'Episode length',
    note: 'Mean number of steps',
    metrics: [{ name: 'rollout/numSteps', label: 'steps' }],
    format: 'number',
  },
  {
    title: 'On-policy check',
    note: 'Largest |ratio − 1| on fresh tokens: the trainer and the collector must agree on logprobs',
    metrics: [{ name: 'train/ratioMaxDeviation', label: 'max deviation' }],
    format: 'number',
  },
  {
    title: 'Learning rate',
    note: 'By the schedule of the recipe',
    metrics: [{ name: 'train/learningRate', label: 'rate' }],
    format: 'number',
  },
];

/** Every metric that the overview asks for. */
export const CHARTED_METRICS: readonly string[] = [SUCCESS_CHART, ...DETAIL_CHARTS].flatMap(({ metrics }) =>
  metrics.map(({ name }) => name),
);
