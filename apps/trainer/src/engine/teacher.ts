import type { DistillationRecipe } from '@retrace/config';
import {
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
 * The published weights that teach, for an engine that evaluates policies of its own model.
 *
 * @throws TypeError for a recipe that no run has begun with
 */
export function teacherWeights({ policy }: TeacherOfRecipe): CheckpointFile {
  if (!policy?.source)
    throw new TypeError(
      'recipe.distillation.teacher.policy.source: missing; it is set when a run of the recipe begins',
    );
  return policy.source;
}

/**
 * Opens the model that teaches, of whatever shape; the caller disposes it.
 *
 * @throws TrainerError `TEACHER_REFUSED` for a teacher that reads other tokens, or a directory that has changed since the run began; PolicyError
 */
export async function openTeacher(teacher: TeacherOfRecipe, options: TeacherOptions): Promise<Transformer> {
  const { checkpoints, tokenizerHash, maxPositions } = options;
  if (typeof teacher.model !== 'string') {
    const weights = teacherWeights(teacher);
    requireTokens('policy', await policyTokenizerHash(checkpoints, weights), tokenizerHash);
    return openPolicyCheckpoint(checkpoints, weights);
  }
  const { model: directory, fingerprint } = teacher;
  const found = await modelFingerprint(directory);
  if (typeof fingerprint === 'string' && found !== fingerprint) {
    throw new TrainerError(
      'TEACHER_REFUSED',
      `distillation.teacher.model: ${directory} has fingerprint ${found.slice(0, 12)}, and had ${fingerprint.slice(0, 12)} when the run began; restore the directory`,
    );
  }
  const { tokenizer } = await openPolicyText({ tokenizer: 'model', words: null, directory });
  requireTokens('model', tokenizer.hash, tokenizerHash);
  return loadHuggingFaceModel(directory, { valueHead: false, maxPositions, seed: 0 });
}

function requireTokens(field: 'policy' | 'model', found: string, required: string): void {
  if (found === required) return;
  throw new TrainerError(
    'TEACHER_REFUSED',
    `distillation.teacher.${field}: its tokenizer is ${found.slice(0, 12)}, that of the policy ${required.slice(0, 12)}; a teacher must read the policy's tokens`,
  );
}
