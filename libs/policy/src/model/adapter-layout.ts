/**
 * The layout of a model's adapters: for each joined projection one matrix A [n·rank, in] and one matrix B [rows, rank],
 * with the blocks of its n targets one after the other.
 */
import type { LoraConfig, LoraTarget } from './lora-config.js';
import { matrixSpec } from '../parameters/parameter-spec.js';
import type { ParameterPart, ParameterSpec } from '../parameters/parameter-spec.js';

/** peft's prefix of the names in `adapter_model.safetensors`. */
const NAME_PREFIX = 'base_model.model.';

export const loraAKey = (key: string) => `${key}.loraA`;
export const loraBKey = (key: string) => `${key}.loraB`;

/** Lists the adapters of the projections among `specs`, with the names that peft gives them. */
export function adapterSpecs(lora: LoraConfig | undefined, specs: readonly ParameterSpec[]): ParameterSpec[] {
  if (lora === undefined) return [];
  const { rank } = lora;
  return specs.flatMap((spec) => {
    const targets = spec.parts.filter((part) => isTarget(part, lora));
    if (targets.length === 0) return [];
    const a = targets.map(({ name }): ParameterPart => ({
      name: adapterName(name, 'lora_A'),
      numRows: rank,
      role: 'loraA',
    }));
    const b = targets.map(({ name, numRows, pairedHeadDim }): ParameterPart => ({
      name: adapterName(name, 'lora_B'),
      numRows,
      role: 'loraB',
      ...(pairedHeadDim === undefined ? {} : { pairedHeadDim }),
    }));
    return [matrixSpec(loraAKey(spec.key), spec.shape[1], a), matrixSpec(loraBKey(spec.key), rank, b)];
  });
}

/** Whether a part is the weight of a projection that carries an adapter. */
export function isTarget({ name, role }: ParameterPart, { targets }: LoraConfig): boolean {
  const [suffix, module] = name.split('.').reverse();
  return role !== 'bias' && suffix === 'weight' && targets.includes(module as LoraTarget);
}

function adapterName(weightName: string, matrix: 'lora_A' | 'lora_B'): string {
  return NAME_PREFIX + weightName.replace(/weight$/, `${matrix}.weight`);
}
