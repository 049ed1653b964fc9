import type { DistillationRecipe } from '@retrace/config';
import {
  isUnreadable,
  loadHuggingFaceModel,
  modelFingerprint,
  openPolicyCheckpoint,
  openPolicyText,
  policyTokenizerHash,
  type CheckpointFiles,
  type Transformer,
} from '@retrace/policy';
import type { CheckpointFile } from '@retrace/trajectory';
import { TrainerError } from '../trainer-error.js';

type TeacherOfRecipe = DistillationRecipe['teacher'];

interface TeacherOptions {
  readonly checkpoints: CheckpointFiles;
  /** Of the policy that learns. */
  readonly tokenizerHash: string;
  /** Longest context of the policy that learns, tokens. */
  readonly maxPositions: number;
}

/**
 * The published weights that teach, for an engine that evaluates policies of its own model only.
 *
 * @throws TypeError for a recipe that no run has begun with; TrainerError `TEACHER_REFUSED` for a model directory
 */
export function teacherWeights({ policy, model }: TeacherOfRecipe): CheckpointFile {
  if (typeof model === 'string') {
    throw refused(
      'model',
      'this engine evaluates policies of runs only; use engine "tensorflow", or a teacher of a run',
    );
  }
  if (!policy?.source)
    throw new TypeError(
      'recipe.distillation.teacher.policy.source: missing; it is set when a run of the recipe begins',
    );
  return policy.source;
}

/**
 * Opens the model that teaches, of whatever shape; the caller disposes it.
 *
 * @throws TrainerError `TEACHER_REFUSED` for a teacher whose weights are gone, that reads other tokens or shorter contexts than the policy, or whose
 *   directory has changed since the run began; PolicyError
 */
export async function openTeacher(teacher: TeacherOfRecipe, options: TeacherOptions): Promise<Transformer> {
  const { checkpoints, tokenizerHash, maxPositions } = options;
  if (typeof teacher.model !== 'string') {
    const weights = teacherWeights(teacher);
    try {
      requireTokens('policy', await policyTokenizerHash(checkpoints, weights), tokenizerHash);
      return requireContexts(await openPolicyCheckpoint(checkpoints, weights), maxPositions);
    } catch (cause) {
      if (!isUnreadable(cause)) throw cause;
      throw refused('policy', `its weights can't be read (${cause.message})`, cause);
    }
  }
  const { model: directory, fingerprint } = teacher;
  const found = await modelFingerprint(directory);
  if (typeof fingerprint === 'string' && found !== fingerprint) {
    throw refused(
      'model',
      `${directory} has fingerprint ${found.slice(0, 12)}, and had ${fingerprint.slice(0, 12)} when the run began; restore the directory`,
    );
  }
  const { tokenizer } = await openPolicyText({ tokenizer: 'model', words: null, directory });
  requireTokens('model', tokenizer.hash, tokenizerHash);
  return loadHuggingFaceModel(directory, { valueHead: false, maxPositions, seed: 0 });
}

/** @throws TrainerError `TEACHER_REFUSED` where there are fewer tokens than the recipe compares */
export function requireTopK(topK: number, vocabSize: number): void {
  if (topK <= vocabSize) return;
  throw new TrainerError(
    'TEACHER_REFUSED',
    `distillation.topK: got ${topK}, must be at most the size of the policy's vocabulary, ${vocabSize}`,
  );
}

function requireTokens(field: 'policy' | 'model', found: string, required: string): void {
  if (found === required) return;
  const what = `its tokenizer is ${found.slice(0, 12)}, that of the policy ${required.slice(0, 12)}`;
  throw refused(field, `${what}; a teacher must read the policy's tokens`);
}

function requireContexts(teacher: Transformer, required: number): Transformer {
  const { maxPositions } = teacher.config;
  if (maxPositions >= required) return teacher;
  teacher.dispose();
  throw refused(
    'policy',
    `it reads contexts of ${maxPositions} tokens, and the policy those of ${required}; a teacher must read as many`,
  );
}

function refused(field: 'policy' | 'model', why: string, cause?: unknown): TrainerError {
  return new TrainerError('TEACHER_REFUSED', `distillation.teacher.${field}: ${why}`, { cause });
}
