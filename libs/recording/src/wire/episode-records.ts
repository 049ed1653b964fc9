import type { EndReason, Json, Split } from '@retrace/trajectory';
import {
  integer,
  json,
  flag,
  listOf,
  name,
  objectSchema,
  tags,
  text,
  time,
  word,
  type Schema,
} from './schema.js';

/** Time of a record: ISO 8601 text, or microseconds since the Unix epoch. */
export type WireTime = string | number;

/** Starts an episode. */
export interface WireEpisode {
  readonly type: 'episode';
  readonly episode: string;
  readonly groupId?: string;
  readonly groupSize?: number;
  readonly groupMember?: number;
  readonly environment?: string;
  readonly task?: Json;
  readonly environmentSeed?: number | null;
  readonly samplingSeed?: number | null;
  readonly split?: Split;
  readonly agent?: string;
  readonly externalId?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Json;
  readonly parentEpisode?: string | null;
  readonly forkedFrom?: { readonly episode: string; readonly step: number } | null;
  readonly occurredAt?: WireTime;
}

/** Ends an episode. */
export interface WireEnd {
  readonly type: 'end';
  readonly episode: string;
  readonly endReason?: EndReason;
  readonly detail?: string;
  readonly finalObservation?: string;
  readonly finalTokens?: { readonly ids: readonly number[]; readonly keptPrefix?: number };
  readonly success?: boolean | null;
  readonly numSteps?: number;
  readonly occurredAt?: WireTime;
}

/** Gives, replaces or retracts a reward. */
export interface WireReward {
  readonly type: 'reward';
  readonly id?: string;
  readonly episode: string;
  readonly step?: number | null;
  readonly name: string;
  readonly value: number | null;
  readonly source?: string;
  readonly rationale?: string;
  readonly occurredAt?: WireTime;
}

/** Replaces tags or metadata of an episode. */
export interface WireAnnotation {
  readonly type: 'annotation';
  readonly id?: string;
  readonly episode: string;
  readonly tags?: readonly string[] | null;
  readonly metadata?: Json;
  readonly source?: string;
  readonly occurredAt?: WireTime;
}

const MAX_INT32 = 2 ** 31 - 1;

export const episodeName = name(
  "The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId`",
);

export const step = (description: string, more: Schema = {}): Schema =>
  integer(description, { maximum: 1e9, ...more });

export const tokenIds = listOf({ type: 'integer', minimum: 0, maximum: MAX_INT32 }, 'Token ids', {
  maxItems: 4_194_304,
});

const recordId = name(
  "The caller's id of this record, which makes it idempotent. Default: its content and time",
);

export const EPISODE_RECORD = objectSchema<WireEpisode>(
  {
    type: word(['episode'], 'Starts an episode'),
    episode: episodeName,
    groupId: name('Episodes of one group have the same task. Default: the episode itself'),
    groupSize: integer('Episodes that the group is to have', { minimum: 1, maximum: MAX_INT32, default: 1 }),
    groupMember: integer('Place in the group, from 0', { maximum: MAX_INT32, default: 0 }),
    environment: text("Default: the run's", { maxLength: 256 }),
    task: json('The task: what the environment was reset with'),
    environmentSeed: integer('null = unknown', { nullable: true }),
    samplingSeed: integer('null = unknown', { nullable: true }),
    split: word(['train', 'validation', 'test'], 'Split of the data', { default: 'train' }),
    agent: name('Who acts', { default: 'agent' }),
    externalId: text("The caller's own id, where `episode` is a UUID", { maxLength: 256 }),
    tags: tags('Words to find it by'),
    metadata: json('Anything else that should be kept with it'),
    parentEpisode: name('The episode that called this one, as an agent calls a sub-agent', {
      nullable: true,
    }),
    forkedFrom: {
      ...objectSchema<NonNullable<WireEpisode['forkedFrom']>>(
        { episode: episodeName, step: step('The step from which it goes on in another way') },
        ['episode', 'step'],
      ),
      nullable: true,
    },
    occurredAt: time,
  },
  ['type', 'episode'],
  'Starts an episode',
);

export const END_RECORD = objectSchema<WireEnd>(
  {
    type: word(['end'], 'Ends an episode'),
    episode: episodeName,
    endReason: word(
      ['terminated', 'truncated', 'abandoned'],
      'Whether the environment ended it, a limit cut it, or nobody goes on with it',
      { default: 'terminated' },
    ),
    detail: text('Why, in words; required where it was abandoned'),
    finalObservation: text('What the agent would have seen next'),
    finalTokens: objectSchema<NonNullable<WireEnd['finalTokens']>>(
      {
        ids: tokenIds,
        keptPrefix: integer('Tokens of the context that the final prompt keeps. Default: all'),
      },
      ['ids'],
      'Tokens of the final observation',
    ),
    success: flag('null = unknown', { nullable: true }),
    numSteps: step('Number of steps, which is checked if given'),
    occurredAt: time,
  },
  ['type', 'episode'],
  'Ends an episode. Its totals are computed from its steps',
);

export const REWARD_RECORD = objectSchema<WireReward>(
  {
    type: word(['reward'], 'Gives, replaces or retracts a reward'),
    id: recordId,
    episode: episodeName,
    step: step('The step that it rewards; null = the whole episode', { nullable: true }),
    name: name('Name of the reward'),
    value: { type: 'number', nullable: true, description: 'null retracts the reward' },
    source: text('Who or what gives it', { maxLength: 256, default: 'caller' }),
    rationale: text('Why, in words'),
    occurredAt: time,
  },
  ['type', 'episode', 'name', 'value'],
  'Gives a reward, at any time, also after the end. The newest of the same episode, step, name and source counts',
);

export const ANNOTATION_RECORD = objectSchema<WireAnnotation>(
  {
    type: word(['annotation'], 'Replaces tags or metadata'),
    id: recordId,
    episode: episodeName,
    tags: tags('Replace the tags; null or left out = unchanged', { nullable: true }),
    metadata: json('Replaces the metadata; null or left out = unchanged'),
    source: text('Who or what annotates', { maxLength: 256, default: 'caller' }),
    occurredAt: time,
  },
  ['type', 'episode'],
  'Replaces tags or metadata of an episode, at any time',
);
