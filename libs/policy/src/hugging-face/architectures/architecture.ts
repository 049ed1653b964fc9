import type { TransformerConfig } from '../../model/transformer-config.js';
import type { ConfigJson } from '../config-json.js';

/** The features that distinguish the decoder blocks of model families. */
export type BlockFeatures = Pick<TransformerConfig, 'attentionBias' | 'queryKeyNorm'>;

/** A family of models that `Transformer` supports. */
export interface Architecture {
  /** `model_type` in `config.json`. */
  readonly modelType: string;
  /** Its class in transformers. */
  readonly className: string;
  /** @throws PolicyError `UNSUPPORTED_MODEL` when a field asks for an unsupported feature */
  readFeatures(json: ConfigJson): BlockFeatures;
  /** The fields of `config.json` that describe these features; null if the family has no such model. */
  writeFeatures(features: BlockFeatures): Readonly<Record<string, unknown>> | null;
}
