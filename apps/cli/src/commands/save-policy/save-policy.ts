import { resolve } from 'node:path';
import { parseRecipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import {
  CheckpointFiles,
  openPolicyCheckpoint,
  openPolicyText,
  saveAdapter,
  saveHuggingFaceModel,
} from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import type { BackendName } from '../../server/role-definitions.js';
import type { StoreSession } from '../../services/connection.js';
import { findPolicy } from '../../run/find-policy.js';
import { findRun } from '../../run/find-run.js';

export interface SavePolicyRequest {
  readonly directory: string;
  readonly run: string;
  /** Policy version of the run, or `latest`. */
  readonly policy: string;
  readonly adapterAlone: boolean;
  readonly dtype: 'float32' | 'bfloat16';
  readonly backend?: BackendName;
}

export interface SavedPolicy {
  readonly runId: string;
  readonly policyVersion: number;
  readonly directory: string;
}

/** Writes a published policy for other tools: a model directory with its tokenizer, or an adapter in peft's format. */
export async function saveStoredPolicy(
  { log, directory: { checkpoints } }: StoreSession,
  request: SavePolicyRequest,
): Promise<SavedPolicy> {
  const run = await findRun(log, request.run);
  const { runId } = run;
  const { policy } = await findPolicy(log, run, request.policy);
  const recipe = parseRecipe(run.started.recipe);
  await openBackend(request.backend === undefined ? {} : { prefer: [request.backend] });
  const model = await openPolicyCheckpoint(new CheckpointFiles(checkpoints), policy.weights);
  const directory = resolve(request.directory);
  if (request.adapterAlone) {
    await saveAdapter(directory, model, { baseModel: recipe.policy?.model ?? '' });
  } else {
    const text = await openPolicyText({
      tokenizer: recipe.context.tokenizer,
      words: getEnvironment(recipe.environment).words,
      directory: recipe.policy?.model,
    });
    const merged = model.config.lora ? model.merge() : model;
    await saveHuggingFaceModel(directory, merged, {
      text,
      dtype: request.dtype,
      ...(recipe.policy ? { baseDirectory: recipe.policy.model } : {}),
    });
  }
  return { runId, policyVersion: policy.policyVersion, directory };
}
