import { flag, json, name, objectSchema, tags, text, uuid, type ValueOf, word } from './schema.js';

export const START_RUN_REQUEST = objectSchema(
  {
    id: uuid('A lower-case UUID, best a UUIDv7, which makes the request idempotent. Default: a new one'),
    name: name('Name of the run'),
    environment: text('Environment of its episodes, where they name none', { maxLength: 256 }),
    tags: tags('Words to find it by'),
    metadata: json('Anything else that should be kept with it'),
  },
  ['name'],
);

export const END_RUN_REQUEST = objectSchema(
  {
    reason: word(['finished', 'stopped', 'failed'], 'How it ended'),
    detail: text('Why, in words', { maxLength: 10_000 }),
  },
  ['reason'],
);

export const ANNOTATE_RUN_REQUEST = objectSchema(
  {
    tags: tags('In place of the tags that it has'),
    notes: text('In place of the notes that it has; empty for none', { maxLength: 100_000 }),
    starred: flag('Whether it is marked as one of the important ones'),
    archived: flag('Whether lists leave it out unless they are asked for it'),
    source: text('Who or what annotates', { maxLength: 256, default: 'caller' }),
  },
  [],
);

/** Starts a run that agents outside of Retrace record. */
export type StartRunRequest = ValueOf<typeof START_RUN_REQUEST>;
export type EndRunRequest = ValueOf<typeof END_RUN_REQUEST>;
/** Changes what it names; the rest stays as it was. */
export type AnnotateRunRequest = ValueOf<typeof ANNOTATE_RUN_REQUEST>;
