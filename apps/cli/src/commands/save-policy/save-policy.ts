import { resolve } from 'node:path';
import { parseRecipe } from '@retrace/config';
import { readEnvironment } from '@retrace/environment-sources';
import { openPolicyCheckpoint, openPolicyText, saveAdapter, saveHuggingFaceModel } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import type { CommonOptions } from '../../options.js';
import { findPolicy, PUBLISHING } from '@retrace/runs';
import { findRun } from '../../run/find-run.js';
import { sayChosenRun } from '../../run/said-runs.js';
import type { BackendChoice } from '@retrace/process';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { openCheckpoints } from '../../services/checkpoints.js';

interface SavePolicyOptions extends CommonOptions {
  readonly run: string;
  /** Policy version of the run, or `latest`. */
  readonly policy: string;
  /** Whether to write only the adapters. */
  readonly adapter?: true;
  readonly dtype: 'float32' | 'bfloat16';
  readonly backend?: BackendChoice;
}

interface SavedPolicy {
  readonly runId: string;
  readonly policyVersion: number;
  readonly directory: string;
}

/** Writes a published policy to a directory that other tools can open, and prints which. */
export async function savePolicy(
  directory: string,
  { dataDir, json, ...request }: SavePolicyOptions,
): Promise<void> {
  const saved = await withStore({ dataDir }, (session) => saveFrom(session, resolve(directory), request));
  if (json === true) console.log(JSON.stringify(saved));
  else console.log(`wrote policy ${saved.policyVersion} of run ${saved.runId} to ${saved.directory}`);
}

async function saveFrom(
  { log, directory: home }: StoreSession,
  directory: string,
  request: Omit<SavePolicyOptions, keyof CommonOptions>,
): Promise<SavedPolicy> {
  const checkpoints = openCheckpoints(home);
  const run = await findRun(log, request.run, PUBLISHING);
  const {
    run: { runId, started },
    policy,
  } = await findPolicy(run, request.policy, { log, checkpoints, onChosen: sayChosenRun });
  const recipe = parseRecipe(started.recipe);
  await openBackend(request.backend === undefined ? {} : { prefer: [request.backend] });
  const model = await openPolicyCheckpoint(checkpoints, policy.weights);
  if (request.adapter === true) {
    await saveAdapter(directory, model, { baseModel: recipe.policy?.model ?? '' });
  } else {
    const text = await openPolicyText({
      tokenizer: recipe.context.tokenizer,
      words: (await readEnvironment(recipe.environment)).words,
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
