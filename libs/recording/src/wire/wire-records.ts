import {
  ANNOTATION_RECORD,
  END_RECORD,
  EPISODE_RECORD,
  REWARD_RECORD,
  type WireAnnotation,
  type WireEnd,
  type WireEpisode,
  type WireReward,
} from './episode-records.js';
import type { Schema } from './schema.js';
import { STEP_RECORD, type WireStep } from './step-record.js';

/** A record as callers send it, told apart by `type`. */
export type WireRecord = WireEpisode | WireStep | WireEnd | WireReward | WireAnnotation;

export type WireType = WireRecord['type'];

/** The schema of each type of record. */
export const RECORD_SCHEMAS: Readonly<Record<WireType, Schema<WireRecord>>> = {
  episode: EPISODE_RECORD,
  step: STEP_RECORD,
  end: END_RECORD,
  reward: REWARD_RECORD,
  annotation: ANNOTATION_RECORD,
};

export const WIRE_TYPES = Object.keys(RECORD_SCHEMAS) as readonly WireType[];
