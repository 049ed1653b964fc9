import type { NamedTensors } from '../parameters/named-tensors.js';
import type { PolicyOptimizer } from '../optimizer/policy-optimizer.js';
import { decodeSafetensors } from './safetensors.js';

/** The number of steps and the moments of an optimizer, by parameter name, as its file has them. */
export async function optimizerState(
  optimizer: PolicyOptimizer,
): Promise<{ step: number; firstMoments: NamedTensors; secondMoments: NamedTensors }> {
  const pieces: Buffer[] = [];
  for await (const piece of optimizer.stateContent()) pieces.push(Buffer.from(piece));
  const { tensors, metadata } = decodeSafetensors(Buffer.concat(pieces));
  const under = (prefix: string): NamedTensors =>
    new Map(
      [...tensors]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, tensor]) => [name.slice(prefix.length), tensor]),
    );
  return {
    step: Number(metadata.step),
    firstMoments: under('first_moment.'),
    secondMoments: under('second_moment.'),
  };
}
