import {
  float64s,
  integerAtLeast,
  json,
  listOf,
  nonEmptyText,
  nullable,
  objectOf,
  type PayloadsOf,
  sha256,
  text,
  uuid,
} from '../fields/field.js';
import * as rules from '../fields/rules.js';

const namedFile = objectOf({
  /** SHA-256, hex; the file's name in the checkpoint store. `''`, of 0 bytes: a trainer outside of Retrace has not named it. */
  sha256,
  sizeBytes: integerAtLeast(0),
});

const unnamedFile = rules.objectOf({ sha256: rules.text, sizeBytes: rules.numberBetween(0, 0) });

const file = namedFile.ruledBy((value, field) => {
  const isUnnamed = (value as Partial<CheckpointFile> | null | undefined)?.sha256 === '';
  return (isUnnamed ? unnamedFile : namedFile.rule)(value, field);
});

/** The engine that computed the gradients of an update and made its optimizer steps. */
const usedEngine = objectOf({
  /** As a recipe names it: `tensorflow`, `torch`, `tinker`. For a trainer outside of Retrace, that trainer's name. */
  kind: nonEmptyText,
  /** Of its library, with what it runs on: `tensorflow 2.21.0`, `torch 2.11.0`. */
  version: text,
  /** `cpu`, or the name of a GPU. */
  device: text,
  numProcesses: integerAtLeast(1),
  /** Type in which it multiplies matrices. */
  precision: text,
});

/** The fields of the events by which updates and policies count. */
export const COMMIT_EVENTS = {
  /** The commit of an update. */
  UpdateApplied: {
    planId: uuid.in('plan_id'),
    epoch: integerAtLeast(0).in('epoch'),
    updateNumber: integerAtLeast(0).in('update_number'),
    policyVersionOut: integerAtLeast(0).in('policy_version'),
    weights: file,
    optimizer: file,
    /**
     * [E] Total reward of each episode of the plan under the plan's reward version, as the update used it, without later
     * scores of judges. NaN = missing, the episode was left out. Null where rewards play no part (imitation), and in commits of
     * schema version 1.
     */
    episodeRewards: nullable(float64s).sinceAndStated(2, null),
    /** [G] Priorities of the plan's groups for later draws; NaN = as before. Null where the sampler has none. */
    groupPriorities: nullable(float64s).since(3, null),
    /** Null in commits before schema version 4. */
    engine: nullable(usedEngine).since(4, null),
    trainerState: json,
    metricNames: listOf(nonEmptyText).in('metric_names'),
    metricValues: float64s.in('metric_values'),
  },

  PolicyPublished: {
    policyVersion: integerAtLeast(0).in('policy_version'),
    /** Version it was trained from; null for the first. */
    parentVersion: nullable(integerAtLeast(0)),
    updateNumber: integerAtLeast(0).in('update_number'),
    epoch: integerAtLeast(0).in('epoch'),
    weights: file,
    /** Hash of architecture and tokenizer: versions of one model differ only in weights. For a trainer outside, the name that it gives the model. */
    modelHash: nonEmptyText,
    /** Where an engine or a trainer outside of Retrace keeps the weights, as it says; `''` where they are in the checkpoint store only, or nobody knows. */
    location: text.since(2, ''),
  },

  TrainerClaimed: {
    epoch: integerAtLeast(0).in('epoch'),
    trainerId: nonEmptyText,
  },
};

export type UpdateApplied = PayloadsOf<typeof COMMIT_EVENTS>['UpdateApplied'];
export type PolicyPublished = PayloadsOf<typeof COMMIT_EVENTS>['PolicyPublished'];
export type TrainerClaimed = PayloadsOf<typeof COMMIT_EVENTS>['TrainerClaimed'];
export type CheckpointFile = (typeof namedFile)['value'];
export type UsedEngine = (typeof usedEngine)['value'];
