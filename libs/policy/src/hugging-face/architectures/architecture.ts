import type { TransformerConfig } from '../../model/transformer-config.js';
import type { ConfigJson } from '../config-json.js';

/** Features in which decoder blocks of model families differ. */
export type BlockFeatures = Pick<TransformerConfig, 'attentionBias' | 'queryKeyNorm'>;

/** A family of models that the transformer here can be, by the name it has in `config.json`. */
export interface Architecture {
  /** `model_type` in `config.json`. */
  readonly modelType: string;
  /** Its class in transformers. */
  readonly className: string;
  /** The features of a model of this family; throws `PolicyError` (`UNSUPPORTED_MODEL`) at a field that asks for more. */
  readFeatures(json: ConfigJson): BlockFeatures;
  /** The fields with which this family says these features; null where it has no such model. */
  writeFeatures(features: BlockFeatures): Readonly<Record<string, unknown>> | null;
}
