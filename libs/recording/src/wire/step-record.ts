import type { Json } from '@retrace/trajectory';
import { episodeName, step, type WireTime } from './episode-records.js';
import {
  flag,
  integer,
  json,
  listOf,
  number,
  objectSchema,
  text,
  time,
  word,
  type Schema,
} from './schema.js';
import { TOKEN_SCHEMAS, type WireTokens } from './token-fields.js';
import type { WireMessage } from './wire-message.js';

export interface WireSampling {
  readonly temperature: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly greedy?: boolean;
  readonly maxNewTokens?: number;
}

export interface WireUsage {
  readonly inputTokens?: number | null;
  readonly cachedInputTokens?: number | null;
  readonly outputTokens?: number | null;
  readonly reasoningTokens?: number | null;
  readonly costUsd?: number | null;
}

/** One step of an episode: what the agent saw, what it did, what it got. */
export interface WireStep {
  readonly type: 'step';
  readonly episode: string;
  readonly step: number;
  readonly observation?: string;
  readonly action?: string;
  readonly parsedAction?: string | null;
  readonly actionValid?: boolean | null;
  readonly anchor?: string | null;
  readonly reward?: number | null;
  readonly rewards?: Readonly<Record<string, number | null>>;
  readonly terminated?: boolean;
  readonly truncated?: boolean;
  readonly info?: Json;
  readonly messages?: { readonly input: readonly WireMessage[]; readonly output: WireMessage | null } | null;
  readonly usage?: WireUsage | null;
  readonly tokens?: WireTokens | null;
  readonly sampling?: WireSampling | null;
  readonly engine?: string;
  readonly model?: string;
  readonly tokenizerHash?: string;
  readonly logprobMode?: 'processed' | 'raw' | 'none';
  readonly generationMs?: number | null;
  readonly environmentMs?: number | null;
  readonly untrainable?: string;
  readonly occurredAt?: WireTime;
}

const MAX_REAL = Number.MAX_VALUE;

const count = (description: string): Schema => integer(description, { nullable: true });

const milliseconds = (description: string): Schema =>
  number(description, { minimum: 0, maximum: MAX_REAL, nullable: true });

const TOKENS: Schema = {
  ...objectSchema<WireTokens>(
    {
      ...TOKEN_SCHEMAS,
      keptPrefix: integer('Tokens of the context so far that this prompt kept; null or left out = all', {
        nullable: true,
      }),
    },
    ['ids', 'mask'],
    'The tokens that this step appended to the context: the new part of the prompt, then the sampled tokens',
  ),
  nullable: true,
};

const SAMPLING: Schema = {
  ...objectSchema<WireSampling>(
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
  nullable: true,
};

const USAGE: Schema = {
  ...objectSchema<WireUsage>(
    {
      inputTokens: count('Tokens of the prompt'),
      cachedInputTokens: count("Those of them that came from the provider's cache"),
      outputTokens: count('Tokens of the answer'),
      reasoningTokens: count('Those of them that were reasoning'),
      costUsd: number('Cost in US dollars', { minimum: 0, nullable: true }),
    },
    [],
    'Tokens and cost as the provider counted them; null = unknown',
  ),
  nullable: true,
};

/** A chat message in OpenAI's form; `stepMessages` of the event checks its outline. */
const MESSAGE: Schema = {
  type: 'object',
  required: ['role'],
  properties: { role: { type: 'string', minLength: 1 } },
  additionalProperties: true,
};

const MESSAGES: Schema = {
  ...objectSchema<NonNullable<WireStep['messages']>>(
    {
      input: listOf(MESSAGE, 'Messages since the output of the step before, in order'),
      output: { ...MESSAGE, nullable: true, description: "The agent's message; null = none" },
    },
    ['input', 'output'],
    "Chat messages that this step added, in the form of OpenAI's chat API",
  ),
  nullable: true,
};

export const STEP_RECORD = objectSchema<WireStep>(
  {
    type: word(['step'], 'One step'),
    episode: episodeName,
    step: step('0, 1, 2 …: the place in the episode, which makes the step idempotent'),
    observation: text('What the agent saw. Default: the input messages as lines `role: text`'),
    action: text('What the agent did. Default: the text of the output message, then its tool calls'),
    parsedAction: text('The action as the environment understood it', { nullable: true }),
    actionValid: flag('null = unknown', { nullable: true }),
    anchor: text('What the environment says identifies its state', { nullable: true }),
    reward: { type: 'number', nullable: true, description: 'null = missing, which is not zero' },
    rewards: {
      type: 'object',
      description: 'Parts of the reward by name; null = missing',
      additionalProperties: { type: 'number', nullable: true },
    },
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
