import type { SafetensorsFile } from '@retrace/policy';

/** A tensor that two files have, as float32. */
export interface TensorPair {
  readonly a: Float32Array;
  readonly b: Float32Array;
}

/** Reads the tensors of two files pair by pair, in the order of the first one; null where the files differ in a name or a shape. */
export function pairTensors(a: SafetensorsFile, b: SafetensorsFile): AsyncIterable<TensorPair> | null {
  const [ofA, ofB] = [a.header.entries, b.header.entries];
  const isAlike = [...ofA].every(([name, { shape }]) => ofB.get(name)?.shape.join() === shape.join());
  return isAlike && ofA.size === ofB.size ? readPairs(a, b) : null;
}

async function* readPairs(a: SafetensorsFile, b: SafetensorsFile): AsyncGenerator<TensorPair> {
  for (const [name, { shape }] of a.header.entries) {
    const length = shape.reduce((product, size) => product * size, 1);
    const pair = { a: new Float32Array(length), b: new Float32Array(length) };
    await a.read(name, pair.a);
    await b.read(name, pair.b);
    yield pair;
  }
}
