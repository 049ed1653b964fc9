import type { Json, RunEnded } from '@retrace/trajectory';
import { flag, json, name, objectSchema, tags, text, uuid, word } from './schema.js';

/** Starts a run that agents outside of Retrace record. */
export interface StartRunRequest {
  /** A lower-case UUID, best a UUIDv7, that makes the request idempotent; left out = a new one. */
  readonly id?: string;
  readonly name: string;
  readonly environment?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Json;
}

export interface EndRunRequest {
  readonly reason: RunEnded['reason'];
  readonly detail?: string;
}

/** Changes what it names; the rest stays as it was. */
export interface AnnotateRunRequest {
  readonly tags?: readonly string[];
  readonly notes?: string;
  readonly starred?: boolean;
  readonly archived?: boolean;
  readonly source?: string;
}

export const START_RUN_REQUEST = objectSchema<StartRunRequest>(
  {
    id: uuid('A lower-case UUID, best a UUIDv7, which makes the request idempotent. Default: a new one'),
    name: name('Name of the run'),
    environment: text('Environment of its episodes, where they name none', { maxLength: 256 }),
    tags: tags('Words to find it by'),
    metadata: json('Anything else that should be kept with it'),
  },
  ['name'],
);

export const END_RUN_REQUEST = objectSchema<EndRunRequest>(
  {
    reason: word(['finished', 'stopped', 'failed'], 'How it ended'),
    detail: text('Why, in words', { maxLength: 10_000 }),
  },
  ['reason'],
);

export const ANNOTATE_RUN_REQUEST = objectSchema<AnnotateRunRequest>(
  {
    tags: tags('In place of the tags that it has'),
    notes: text('In place of the notes that it has; empty for none', { maxLength: 100_000 }),
    starred: flag('Whether it is marked as one of the important ones'),
    archived: flag('Whether lists leave it out unless they are asked for it'),
    source: text('Who or what annotates', { maxLength: 256, default: 'caller' }),
  },
  [],
);
