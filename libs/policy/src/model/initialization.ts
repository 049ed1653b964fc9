import { createHash } from 'node:crypto';
import type { NamedTensor, NamedTensors } from '../parameters/named-tensors.js';
import { parameterSpecs } from './parameter-layout.js';
import { numElements, partShape } from '../parameters/parameter-spec.js';
import type { ParameterRole, ParameterSpec } from '../parameters/parameter-spec.js';
import type { TransformerConfig } from './transformer-config.js';

/**
 * Draws the initial weights of `specs` (default: all): norms are 1, biases and the B of adapters 0, the others normal with
 * standard deviation 1/√fan-in, and 1/√(2·numLayers) of that for the projections that write into the residual stream.
 * A tensor's random numbers depend only on the seed and its name, so adding a head or a layer does not change other tensors.
 */
export function initialTensors(
  config: TransformerConfig,
  seed: number,
  specs: readonly ParameterSpec[] = parameterSpecs(config),
): NamedTensors {
  const tensors = new Map<string, NamedTensor>();
  for (const spec of specs) {
    for (const part of spec.parts) {
      const shape = partShape(spec, part);
      const data = new Float32Array(numElements(shape));
      if (part.role === 'norm') data.fill(1);
      else if (part.role !== 'bias' && part.role !== 'loraB')
        fillNormal(data, standardDeviation(config, part.role, shape[1]), `${seed}/${part.name}`);
      tensors.set(part.name, { shape, data });
    }
  }
  return tensors;
}

function standardDeviation(config: TransformerConfig, role: ParameterRole, fanIn: number): number {
  // The variance of the uniform numbers that peft starts from.
  if (role === 'loraA') return 1 / Math.sqrt(3 * fanIn);
  const std = 1 / Math.sqrt(fanIn);
  if (role === 'lmHead') return config.lmHeadInitializerStd ?? std;
  return role === 'residualProjection' ? std / Math.sqrt(2 * config.numLayers) : std;
}

/** Box–Muller over a xoshiro128** stream whose state is the hash of `streamName`. */
function fillNormal(data: Float32Array, std: number, streamName: string): void {
  const uniform = uniformStream(streamName);
  for (let i = 0; i < data.length; i += 2) {
    const radius = std * Math.sqrt(-2 * Math.log(1 - uniform()));
    const angle = 2 * Math.PI * uniform();
    data[i] = radius * Math.cos(angle);
    if (i + 1 < data.length) data[i + 1] = radius * Math.sin(angle);
  }
}

/** Uniform in [0, 1) with 53 random bits. */
function uniformStream(name: string): () => number {
  const digest = createHash('sha256').update(name).digest();
  const state = Uint32Array.from([0, 4, 8, 12], (offset) => digest.readUInt32LE(offset));
  const next = (): number => {
    const scrambled = Math.imul(state[1], 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = state[1] << 9;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = (state[3] << 11) | (state[3] >>> 21);
    return result;
  };
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}
