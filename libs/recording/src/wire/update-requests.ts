import {
  integer,
  json,
  listOf,
  name,
  nullable,
  number,
  objectSchema,
  text,
  type Schema,
  type SchemaKeywords,
  uuid,
  type ValueOf,
  word,
} from './schema.js';

/** Columns of events have int32 and float32. */
const MAX_COUNT = 2 ** 31 - 1;
const MAX_FLOAT = 3.4e38;
const MAX_EPISODES = 4_096;
const MAX_STEPS = 10_000;

const float = (description: string, more: SchemaKeywords = {}): Schema<number> =>
  number(description, { minimum: -MAX_FLOAT, maximum: MAX_FLOAT, ...more });

const count = (description: string, more: SchemaKeywords = {}): Schema<number> =>
  integer(description, { maximum: MAX_COUNT, ...more });

const file = (description: string) =>
  nullable(
    objectSchema(
      {
        sha256: text('SHA-256 of its bytes', {
          pattern: '^[0-9a-f]{64}$',
          'x-rule': 'must be a SHA-256 in 64 lower-case hex digits',
        }),
        sizeBytes: integer('Bytes'),
      },
      ['sha256', 'sizeBytes'],
      description,
    ),
  );

const CHECKPOINT = {
  weights: file(
    'The weights, by their content; null or left out where they were not saved. Retrace does not get them',
  ),
  location: text('Where the trainer keeps them: a path or an address', { maxLength: 2048 }),
  model: name(
    'The model whose weights they are, such as `Qwen/Qwen3-0.6B`. Default: that of the version before',
  ),
};

const TRAINED_EPISODE = objectSchema(
  {
    run: uuid('Run of the episode. Default: the one that the update is of'),
    episode: name('Its id, or the name that it was recorded by'),
    times: count('How often each pass over the batch trained it; 0: it was left out. Default: 1'),
    numTokens: count('Tokens of it that the loss counts. Default: 0'),
    weight: nullable(float('Mean importance weight of those tokens. Default: 1')),
    advantage: nullable(
      objectSchema(
        {
          mean: float('Mean'),
          deviation: float('Standard deviation of the population', { minimum: 0 }),
          min: float('Least'),
          max: float('Greatest'),
        },
        ['mean', 'deviation', 'min', 'max'],
        'Advantages over those tokens',
      ),
    ),
    reward: nullable(number('Total reward of the episode, as the update used it; null or left out: none')),
    digest: nullable(
      text(
        'Of what the trainer read of it, as its batch has it in `episode_digest`; `retrace verify` holds the store against it',
        { pattern: '^[0-9a-f]{16}$', 'x-rule': 'must be 16 lower-case hex digits, or null' },
      ),
    ),
  },
  ['episode'],
);

const ENGINE = objectSchema(
  {
    kind: name('Its name: `trl`, `verl`'),
    version: text('Of its library, with what it runs on: `trl 1.16.0`', { maxLength: 256 }),
    device: text('`cpu`, or the name of a GPU', { maxLength: 256 }),
    numProcesses: integer('Processes that it trains with. Default: 1', { minimum: 1 }),
    precision: text('Type in which it multiplies matrices: `bfloat16`', { maxLength: 64 }),
  },
  ['kind'],
  'What made the gradients',
);

const METRICS: Schema<Readonly<Record<string, number | null>>> = {
  type: 'object',
  description: 'Figures of the update by name; null = not available',
  additionalProperties: { type: 'number', nullable: true },
};

export const RECORD_UPDATE_REQUEST = objectSchema(
  {
    id: uuid('A lower-case UUID of your own, which makes the request idempotent. Default: a new one'),
    updateNumber: integer('Must be the next of the run, where it is given', { minimum: 1 }),
    policyVersionIn: integer('Version that it started from'),
    stage: word(['policy', 'imitation'], 'Default: policy'),
    rewardVersion: name('What its rewards are. Default: `recorded`'),
    batch: json('How its batch was asked for, and what it is: any JSON that should be kept with it'),
    engine: ENGINE,
    ...CHECKPOINT,
    optimizer: file('The optimizer state that belongs to the weights'),
    episodes: listOf(TRAINED_EPISODE, 'The episodes that it was trained on, each once', {
      maxItems: MAX_EPISODES,
    }),
    stepLosses: listOf(nullable(number('Loss')), 'Loss of each optimizer step; null where it is no number', {
      maxItems: MAX_STEPS,
    }),
    stepGradientNorms: listOf(
      nullable(number('Norm', { minimum: 0 })),
      'Norm of the gradient of each optimizer step, before it is scaled down; null where it is no number; as many as losses',
      { maxItems: MAX_STEPS },
    ),
    metrics: METRICS,
  },
  ['policyVersionIn', 'engine', 'episodes'],
);

export const PUBLISH_POLICY_REQUEST = objectSchema(
  {
    policyVersion: integer('Its number, which makes the request idempotent: the next of the run'),
    parentVersion: nullable(
      integer('Version that it was trained from; null or left out: it is trained from none'),
    ),
    ...CHECKPOINT,
  },
  ['policyVersion'],
);

/** A file by its content. */
export type WireFile = NonNullable<WireCheckpoint['weights']>;
/** Where the weights of a policy are that was trained outside. */
export type WireCheckpoint = Pick<PublishPolicyRequest, keyof typeof CHECKPOINT>;
/** An episode that an update outside was trained on, with its part in it. */
export type WireTrainedEpisode = ValueOf<typeof TRAINED_EPISODE>;
/** An update that a trainer outside of Retrace made. */
export type RecordUpdateRequest = ValueOf<typeof RECORD_UPDATE_REQUEST>;
/** A policy version that no update of the run made, such as the one that training starts from. */
export type PublishPolicyRequest = ValueOf<typeof PUBLISH_POLICY_REQUEST>;
