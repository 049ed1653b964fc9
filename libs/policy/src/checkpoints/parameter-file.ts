import { splitParameters } from '../parameters/join-parameter.js';
import { partShape } from '../parameters/parameter-spec.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';
import { viewBytes, toBfloat16 } from './element-types.js';
import { encodeSafetensorsHeader } from './safetensors-header.js';
import type { SafetensorsMetadata } from './safetensors-header.js';

/** Device parameters whose values are read together, one after the other in one vector. */
export interface ParameterGroup {
  readonly specs: readonly ParameterSpec[];
  /** Precedes the names of the tensors in the file. */
  readonly prefix?: string;
  values(): Promise<Float32Array>;
}

export interface ParameterFileOptions {
  /** Type of the elements in the file (default F32, which keeps every bit). */
  readonly type?: 'F32' | 'BF16';
  readonly metadata: SafetensorsMetadata;
}

/**
 * Encodes device parameters as a safetensors file (https://huggingface.co/docs/safetensors) in pieces. The values of one
 * group are in memory at a time. The same values and metadata give the same bytes.
 */
export async function* encodeParameters(
  groups: readonly ParameterGroup[],
  { type = 'F32', metadata }: ParameterFileOptions,
): AsyncGenerator<Uint8Array> {
  const entries = groups.flatMap(({ specs, prefix = '' }) =>
    specs.flatMap((spec) =>
      spec.parts.map((part) => [prefix + part.name, { type, shape: partShape(spec, part) }] as const),
    ),
  );
  yield encodeSafetensorsHeader(entries, metadata);
  for (const group of groups) {
    for (const [, { data }] of splitParameters(group.specs, await group.values())) {
      yield viewBytes(type === 'BF16' ? toBfloat16(data) : data);
    }
  }
}
