import { nearNames } from '@retrace/algorithms/registry';
import type { TransformerConfig } from '../../model/transformer-config.js';
import { PolicyError } from '../../policy-error.js';
import type { ConfigJson } from '../config-json.js';
import type { Architecture } from './architecture.js';
import { llama } from './llama.js';
import { mistral } from './mistral.js';
import { qwen2 } from './qwen2.js';
import { qwen3 } from './qwen3.js';

/** Every family that can be read: another one is one file, and one line here. */
const architectures: readonly Architecture[] = [qwen2, qwen3, llama, mistral];

/** @throws PolicyError `UNSUPPORTED_MODEL` for an unknown `model_type`, with the names that are near it */
export function architectureOf(json: ConfigJson): Architecture {
  const name = json.optionalString('model_type');
  const found = architectures.find(({ modelType }) => modelType === name);
  if (found) return found;
  const known = architectures.map(({ modelType }) => modelType);
  const near = name === null ? [] : nearNames(name, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return json.refuse('model_type', `must be one of ${known.join(', ')}${hint}`);
}

/** The first family that has such a model, and the fields with which it says so. */
export function architectureFor(config: TransformerConfig): {
  readonly architecture: Architecture;
  readonly features: Readonly<Record<string, unknown>>;
} {
  for (const architecture of architectures) {
    const features = architecture.writeFeatures(config);
    if (features !== null) return { architecture, features };
  }
  throw new PolicyError(
    'UNSUPPORTED_MODEL',
    `no model family has attentionBias ${config.attentionBias} with queryKeyNorm ${config.queryKeyNorm === true}`,
  );
}
