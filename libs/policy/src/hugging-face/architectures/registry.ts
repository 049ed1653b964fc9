import { nearNames } from '@retrace/algorithms/registry';
import type { TransformerConfig } from '../../model/transformer-config.js';
import { PolicyError } from '../../policy-error.js';
import type { ConfigJson } from '../config-json.js';
import type { Architecture } from './architecture.js';
import { llama } from './llama.js';
import { mistral } from './mistral.js';
import { qwen2 } from './qwen2.js';
import { qwen3 } from './qwen3.js';

/** Every supported family. To add one, add a file and a line here. */
const ARCHITECTURES: readonly Architecture[] = [qwen2, qwen3, llama, mistral];

/** @throws PolicyError `UNSUPPORTED_MODEL` for an unknown `model_type`, with similar names */
export function findArchitecture(json: ConfigJson): Architecture {
  const name = json.optionalString('model_type');
  const found = ARCHITECTURES.find(({ modelType }) => modelType === name);
  if (found) return found;
  const known = ARCHITECTURES.map(({ modelType }) => modelType);
  const near = name === null ? [] : nearNames(name, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return json.refuse('model_type', `must be one of ${known.join(', ')}${hint}`);
}

/**
 * Finds the first family that has such a model, and the fields that describe it.
 *
 * @throws PolicyError `UNSUPPORTED_MODEL` when no family has it
 */
export function architectureFor(config: TransformerConfig): {
  readonly architecture: Architecture;
  readonly features: Readonly<Record<string, unknown>>;
} {
  for (const architecture of ARCHITECTURES) {
    const features = architecture.writeFeatures(config);
    if (features !== null) return { architecture, features };
  }
  throw new PolicyError(
    'UNSUPPORTED_MODEL',
    `no model family has attentionBias ${config.attentionBias} with queryKeyNorm ${config.queryKeyNorm === true}`,
  );
}
