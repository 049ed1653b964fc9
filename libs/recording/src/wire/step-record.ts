import { episodeName, step } from './episode-records.js';
import {
  flag,
  integer,
  json,
  listOf,
  nullable,
  number,
  objectSchema,
  text,
  time,
  word,
  type Schema,
  type SchemaKeywords,
  type ValueOf,
} from './schema.js';
import { TOKEN_SCHEMAS } from './token-fields.js';
import type { WireMessage } from './wire-message.js';

const MAX_REAL = Number.MAX_VALUE;

const count = (description: string) => nullable(integer(description));

const milliseconds = (description: string) =>
  nullable(number(description, { minimum: 0, maximum: MAX_REAL }));

const TOKENS = nullable(
  objectSchema(
    {
      ...TOKEN_SCHEMAS,
      keptPrefix: nullable(
        integer('Tokens of the context so far that this prompt kept; null or left out = all'),
      ),
    },
    ['ids', 'mask'],
    'The tokens that this step appended to the context: the new part of the prompt, then the sampled tokens',
  ),
);

const SAMPLING = nullable(
  objectSchema(
    {
      temperature: number('Temperature', { minimum: 0 }),
      topK: integer('0 = off', { default: 0 }),
      topP: number('1 = off', { minimum: 0, maximum: 1, default: 1 }),
      greedy: flag('Whether the most likely token was taken', { default: false }),
      maxNewTokens: integer('Most tokens that could be sampled. Default: the number that were', {
        minimum: 1,
      }),
    },
    ['temperature'],
    'How the agent sampled; null or left out = unknown',
  ),
);

const USAGE = nullable(
  objectSchema(
    {
      inputTokens: count('Tokens of the prompt'),
      cachedInputTokens: count("Those of them that came from the provider's cache"),
      outputTokens: count('Tokens of the answer'),
      reasoningTokens: count('Those of them that were reasoning'),
      costUsd: nullable(number('Cost in US dollars', { minimum: 0 })),
    },
    [],
    'Tokens and cost as the provider counted them; null = unknown',
  ),
);

/** A chat message in OpenAI's form; `stepMessages` of the event checks its outline. */
const MESSAGE: Schema<WireMessage> = {
  type: 'object',
  required: ['role'],
  properties: { role: { type: 'string', minLength: 1 } },
  additionalProperties: true,
};

const OUTPUT_MESSAGE: Schema<WireMessage | null> = {
  ...(MESSAGE as SchemaKeywords),
  nullable: true,
  description: "The agent's message; null = none",
};

const REWARD: Schema<number | null> = {
  type: 'number',
  nullable: true,
  description: 'null = missing, which is not zero',
};

const REWARDS: Schema<Readonly<Record<string, number | null>>> = {
  type: 'object',
  description: 'Parts of the reward by name; null = missing',
  additionalProperties: { type: 'number', nullable: true },
};

const MESSAGES = nullable(
  objectSchema(
    {
      input: listOf(MESSAGE, 'Messages since the output of the step before, in order'),
      output: OUTPUT_MESSAGE,
    },
    ['input', 'output'],
    "Chat messages that this step added, in the form of OpenAI's chat API",
  ),
);

export const STEP_RECORD = objectSchema(
  {
    type: word(['step'], 'One step'),
    episode: episodeName,
    step: step('0, 1, 2 …: the place in the episode, which makes the step idempotent'),
    observation: text('What the agent saw. Default: the input messages as lines `role: text`'),
    action: text('What the agent did. Default: the text of the output message, then its tool calls'),
    parsedAction: nullable(text('The action as the environment understood it')),
    actionValid: nullable(flag('null = unknown')),
    anchor: nullable(text('What the environment says identifies its state')),
    reward: REWARD,
    rewards: REWARDS,
    terminated: flag('Whether the environment ended the episode with it', { default: false }),
    truncated: flag('Whether a limit ended the episode with it', { default: false }),
    info: json('Anything else that should be kept with it'),
    messages: MESSAGES,
    usage: USAGE,
    tokens: TOKENS,
    sampling: SAMPLING,
    engine: text('Program that sampled', { maxLength: 256 }),
    model: text('Model that sampled', { maxLength: 256 }),
    tokenizerHash: text('Identity of the tokenizer', { maxLength: 256 }),
    logprobMode: word(
      ['processed', 'raw', 'none'],
      'Whether `logprobs` are after the sampling transform or before it. Default: raw where logprobs are given',
    ),
    generationMs: milliseconds('Time that the model took; null = unknown'),
    environmentMs: milliseconds('Time that the environment took; null = unknown'),
    untrainable: text('A reason of the caller why no update may train on the step; the server adds its own'),
    occurredAt: time,
  },
  ['type', 'episode', 'step'],
  'One step of an episode. Steps come in order; what is unknown is left out',
);

export type WireSampling = NonNullable<ValueOf<typeof SAMPLING>>;
export type WireUsage = NonNullable<ValueOf<typeof USAGE>>;
export type WireTokens = NonNullable<ValueOf<typeof TOKENS>>;
/** One step of an episode: what the agent saw, what it did, what it got. */
export type WireStep = ValueOf<typeof STEP_RECORD>;
