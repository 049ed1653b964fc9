import type { RopeScaling } from '../model/rope-scaling.js';
import type { ConfigJson } from './config-json.js';

/** The value of models whose config does not name it. */
const DEFAULT_ROPE_THETA = 10_000;

/** The fields of `RopeScaling` as `config.json` names them. */
const FIELDS = {
  factor: 'factor',
  lowFrequencyFactor: 'low_freq_factor',
  highFrequencyFactor: 'high_freq_factor',
  originalMaxPositions: 'original_max_position_embeddings',
  attentionFactor: 'attention_factor',
  betaFast: 'beta_fast',
  betaSlow: 'beta_slow',
  truncate: 'truncate',
} as const;

export interface RopeParameters {
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling;
}

/**
 * Reads the rotary parameters from wherever `config.json` has them: in `rope_parameters` (transformers 5), or in `rope_theta` and
 * `rope_scaling`, whose kind is called `rope_type` or `type`.
 *
 * @throws PolicyError `UNSUPPORTED_MODEL` for a kind of scaling that is not supported
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
      // transformers compares the length of a context with the model's own limit.
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
  const parameters =
    ropeScaling === undefined
      ? { rope_type: 'default' }
      : { rope_type: ropeScaling.type, ...scalingFields(ropeScaling) };
  return {
    rope_theta: ropeTheta,
    rope_parameters: { ...parameters, rope_theta: ropeTheta },
    rope_scaling: ropeScaling === undefined ? null : parameters,
  };
}

function scalingFields({ type, ...fields }: RopeScaling): Record<string, unknown> {
  // Under `dynamic`, transformers takes the original length from max_position_embeddings.
  const names = Object.keys(fields).filter((name) => type !== 'dynamic' || name === 'factor');
  return Object.fromEntries(
    names.map((name) => [FIELDS[name as keyof typeof FIELDS], fields[name as keyof typeof fields]]),
  );
}
