import type { Json } from '../json/json.js';

export interface CheckpointFile {
  /** SHA-256, hex; the file's name in the checkpoint store. `''`, of 0 bytes: a trainer outside of Retrace has not named it. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** The engine that computed the gradients of an update and made its optimizer steps. */
export interface UsedEngine {
  /** As a recipe names it: `tensorflow`, `torch`, `tinker`. For a trainer outside of Retrace, that trainer's name. */
  readonly kind: string;
  /** Of its library, with what it runs on: `tensorflow 2.21.0`, `torch 2.11.0`. */
  readonly version: string;
  /** `cpu`, or the name of a GPU. */
  readonly device: string;
  readonly numProcesses: number;
  /** Type in which it multiplies matrices. */
  readonly precision: string;
}

/** The commit of an update. */
export interface UpdateApplied {
  readonly planId: string;
  readonly epoch: number;
  readonly updateNumber: number;
  readonly policyVersionOut: number;
  readonly weights: CheckpointFile;
  readonly optimizer: CheckpointFile;
  /**
   * [E] Total reward of each episode of the plan under the plan's reward version, as the update used it, without later
   * scores of judges. NaN = missing, the episode was left out. Null where rewards play no part (imitation), and in commits of
   * schema version 1.
   */
  readonly episodeRewards: Float64Array | null;
  /** [G] Priorities of the plan's groups for later draws; NaN = as before. Null where the sampler has none. */
  readonly groupPriorities: Float64Array | null;
  /** Null in commits before schema version 4. */
  readonly engine: UsedEngine | null;
  readonly trainerState: Json;
  readonly metricNames: readonly string[];
  readonly metricValues: Float64Array;
}

export interface PolicyPublished {
  readonly policyVersion: number;
  /** Version it was trained from; null for the first. */
  readonly parentVersion: number | null;
  readonly updateNumber: number;
  readonly epoch: number;
  readonly weights: CheckpointFile;
  /** Hash of architecture and tokenizer: versions of one model differ only in weights. For a trainer outside, the name that it gives the model. */
  readonly modelHash: string;
  /** Where an engine or a trainer outside of Retrace keeps the weights, as it says; `''` where they are in the checkpoint store only, or nobody knows. Since version 2. */
  readonly location: string;
}

export interface TrainerClaimed {
  readonly epoch: number;
  readonly trainerId: string;
}
