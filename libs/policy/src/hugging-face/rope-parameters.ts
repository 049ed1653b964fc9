import type { RopeScaling } from '../model/rope-scaling.js';
import type { ConfigJson } from './config-json.js';

/** What all models had before their config said so. */
const DEFAULT_ROPE_THETA = 10_000;

export interface RopeParameters {
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling;
}

/**
 * Rotary parameters, wherever a `config.json` has them: in `rope_parameters` (transformers 5), or in `rope_theta` and
 * `rope_scaling`, whose kind is called `rope_type` or `type`.
 *
 * @throws PolicyError `UNSUPPORTED_MODEL` for a kind of scaling that can't be computed here
 */
export function readRopeParameters(config: ConfigJson): RopeParameters {
  const parameters = config.optionalObject('rope_parameters') ?? config.optionalObject('rope_scaling');
  const ropeTheta =
    parameters?.optionalNumber('rope_theta') ?? config.optionalNumber('rope_theta') ?? DEFAULT_ROPE_THETA;
  if (parameters === null) return { ropeTheta };
  const partial = parameters.optionalNumber('partial_rotary_factor') ?? 1;
  if (partial !== 1) parameters.refuse('partial_rotary_factor', 'must be 1');
  const ropeScaling = readScaling(parameters, config);
  return ropeScaling === null ? { ropeTheta } : { ropeTheta, ropeScaling };
}

function readScaling(parameters: ConfigJson, config: ConfigJson): RopeScaling | null {
  const field = parameters.get('rope_type') === null ? 'type' : 'rope_type';
  const originalMaxPositions = () =>
    parameters.optionalNumber('original_max_position_embeddings') ?? config.number('max_position_embeddings');
  switch (parameters.optionalString(field) ?? 'default') {
    case 'default':
      return null;
    case 'linear':
      return { type: 'linear', factor: parameters.number('factor') };
    case 'dynamic':
      // What transformers compares the length of a context with is the model's own limit.
      return {
        type: 'dynamic',
        factor: parameters.number('factor'),
        originalMaxPositions: config.number('max_position_embeddings'),
      };
    case 'llama3':
      return {
        type: 'llama3',
        factor: parameters.number('factor'),
        lowFrequencyFactor: parameters.number('low_freq_factor'),
        highFrequencyFactor: parameters.number('high_freq_factor'),
        originalMaxPositions: originalMaxPositions(),
      };
    case 'yarn':
      return readYarn(parameters, originalMaxPositions());
    default:
      return parameters.refuse(field, 'must be default, linear, dynamic, llama3 or yarn');
  }
}

function readYarn(parameters: ConfigJson, originalMaxPositions: number): RopeScaling {
  for (const field of ['mscale', 'mscale_all_dim']) parameters.requireAbsentOr(field, null);
  const factor = parameters.number('factor');
  return {
    type: 'yarn',
    factor,
    originalMaxPositions,
    attentionFactor:
      parameters.optionalNumber('attention_factor') ?? (factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1),
    betaFast: parameters.optionalNumber('beta_fast') ?? 32,
    betaSlow: parameters.optionalNumber('beta_slow') ?? 1,
    truncate: parameters.optionalBoolean('truncate') ?? true,
  };
}

/** The `rope_parameters` of transformers 5, which older versions find in `rope_theta` and `rope_scaling`. */
export function writeRopeParameters({ ropeTheta, ropeScaling }: RopeParameters): Record<string, unknown> {
  const parameters = { rope_type: ropeScaling?.type ?? 'default', ...scalingFields(ropeScaling) };
  return {
    rope_theta: ropeTheta,
    rope_parameters: { ...parameters, rope_theta: ropeTheta },
    rope_scaling: ropeScaling === undefined ? null : parameters,
  };
}

function scalingFields(scaling: RopeScaling | undefined): Record<string, unknown> {
  switch (scaling?.type) {
    case undefined:
      return {};
    case 'linear':
    case 'dynamic':
      return { factor: scaling.factor };
    case 'llama3':
      return {
        factor: scaling.factor,
        low_freq_factor: scaling.lowFrequencyFactor,
        high_freq_factor: scaling.highFrequencyFactor,
        original_max_position_embeddings: scaling.originalMaxPositions,
      };
    case 'yarn':
      return {
        factor: scaling.factor,
        original_max_position_embeddings: scaling.originalMaxPositions,
        attention_factor: scaling.attentionFactor,
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
        truncate: scaling.truncate,
      };
  }
}
