import {
  integer,
  json,
  flag,
  name,
  nullable,
  objectSchema,
  tags,
  text,
  time,
  word,
  type Schema,
  type SchemaKeywords,
  type ValueOf,
} from './schema.js';
import { TOKEN_SCHEMAS } from './token-fields.js';

/** Time of a record: ISO 8601 text, or microseconds since the Unix epoch. */
export type WireTime = ValueOf<typeof time>;

const MAX_INT32 = 2 ** 31 - 1;

export const episodeName = name(
  "The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId`",
);

export const step = (description: string, more: SchemaKeywords = {}): Schema<number> =>
  integer(description, { maximum: 1e9, ...more });

const recordId = name(
  "The caller's id of this record, which makes it idempotent. Default: its content and time",
);

export const EPISODE_RECORD = objectSchema(
  {
    type: word(['episode'], 'Starts an episode'),
    episode: episodeName,
    groupId: name('Episodes of one group have the same task. Default: the episode itself'),
    groupSize: integer('Episodes that the group is to have', { minimum: 1, maximum: MAX_INT32, default: 1 }),
    groupMember: integer('Place in the group, from 0', { maximum: MAX_INT32, default: 0 }),
    environment: text("Default: the run's", { maxLength: 256 }),
    task: json('The task: what the environment was reset with'),
    environmentSeed: nullable(integer('null = unknown')),
    samplingSeed: nullable(integer('null = unknown')),
    split: word(['train', 'validation', 'test'], 'Split of the data', { default: 'train' }),
    agent: name('Who acts', { default: 'agent' }),
    externalId: text("The caller's own id, where `episode` is a UUID", { maxLength: 256 }),
    tags: tags('Words to find it by'),
    metadata: json('Anything else that should be kept with it'),
    parentEpisode: nullable(name('The episode that called this one, as an agent calls a sub-agent')),
    forkedFrom: nullable(
      objectSchema({ episode: episodeName, step: step('The step from which it goes on in another way') }, [
        'episode',
        'step',
      ]),
    ),
    occurredAt: time,
  },
  ['type', 'episode'],
  'Starts an episode',
);

export const END_RECORD = objectSchema(
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
    finalTokens: objectSchema(
      {
        ids: TOKEN_SCHEMAS.ids,
        keptPrefix: integer('Tokens of the context that the final prompt keeps. Default: all'),
      },
      ['ids'],
      'Tokens of the final observation',
    ),
    success: nullable(flag('null = unknown')),
    numSteps: step('Number of steps, which is checked if given'),
    occurredAt: time,
  },
  ['type', 'episode'],
  'Ends an episode. Its totals are computed from its steps',
);

const REWARD_VALUE: Schema<number | null> = {
  type: 'number',
  nullable: true,
  description: 'null retracts the reward',
};

export const REWARD_RECORD = objectSchema(
  {
    type: word(['reward'], 'Gives, replaces or retracts a reward'),
    id: recordId,
    episode: episodeName,
    step: nullable(step('The step that it rewards; null = the whole episode')),
    name: name('Name of the reward'),
    value: REWARD_VALUE,
    source: text('Who or what gives it', { maxLength: 256, default: 'caller' }),
    rationale: text('Why, in words'),
    occurredAt: time,
  },
  ['type', 'episode', 'name', 'value'],
  'Gives a reward, at any time, also after the end. The newest of the same episode, step, name and source counts',
);

export const ANNOTATION_RECORD = objectSchema(
  {
    type: word(['annotation'], 'Replaces tags or metadata'),
    id: recordId,
    episode: episodeName,
    tags: nullable(tags('Replace the tags; null or left out = unchanged')),
    metadata: json('Replaces the metadata; null or left out = unchanged'),
    source: text('Who or what annotates', { maxLength: 256, default: 'caller' }),
    occurredAt: time,
  },
  ['type', 'episode'],
  'Replaces tags or metadata of an episode, at any time',
);

export type WireEpisode = ValueOf<typeof EPISODE_RECORD>;
export type WireEnd = ValueOf<typeof END_RECORD>;
export type WireReward = ValueOf<typeof REWARD_RECORD>;
export type WireAnnotation = ValueOf<typeof ANNOTATION_RECORD>;
