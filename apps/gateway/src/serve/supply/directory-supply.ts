import { basename, resolve } from 'node:path';
import { loadHuggingFaceModel, loadPolicyText } from '@retrace/policy';
import type { PolicySupply } from './policy-supply.js';

/**
 * Opens a model in a Hugging Face directory.
 *
 * @param name of the model in the API; default: the directory's
 * @throws PolicyError as `loadHuggingFaceModel` and `loadPolicyText`
 */
export async function openDirectorySupply(
  directory: string,
  name = basename(resolve(directory)),
): Promise<PolicySupply> {
  const text = await loadPolicyText(directory);
  const model = await loadHuggingFaceModel(directory, { valueHead: false, seed: 0 });
  return {
    name,
    model,
    text,
    runId: null,
    policyVersion: null,
    maxTokens: model.config.maxPositions,
    isSingleToken: false,
    refresh: () => Promise.resolve(false),
    onNewer: () => undefined,
    close: () => {
      model.dispose();
      return Promise.resolve();
    },
  };
}
