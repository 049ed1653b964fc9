import * as tf from '@tensorflow/tfjs-core';
import type { NamedTensor, NamedTensors } from './named-tensors.js';
import { joinParameter, splitParameter } from './parameter-layout.js';
import type { ParameterSpec } from './parameter-layout.js';

/**
 * The weights of a model, one device tensor per parameter.
 * Tensors are replaced, never mutated; the set disposes what it replaces.
 */
export class ParameterSet {
  private constructor(
    readonly specs: readonly ParameterSpec[],
    private readonly tensors: Map<string, tf.Tensor>,
  ) {}

  static fromNamed(specs: readonly ParameterSpec[], named: NamedTensors): ParameterSet {
    const set = new ParameterSet(specs, new Map());
    set.assign(named);
    return set;
  }

  get(key: string): tf.Tensor {
    const tensor = this.tensors.get(key);
    if (tensor === undefined) throw new Error(`the model has no parameter ${key}`);
    return tensor;
  }

  /** Takes ownership of `tensor`. */
  replace(key: string, tensor: tf.Tensor): void {
    this.tensors.get(key)?.dispose();
    this.tensors.set(key, tf.keep(tensor));
  }

  /** Replaces all of them. Throws `PolicyError` (`TENSOR_MISMATCH`), before anything is replaced, if one doesn't fit. */
  assign(named: NamedTensors): void {
    const joined = this.specs.map((spec) => joinParameter(spec, named));
    this.specs.forEach((spec, i) => {
      this.replace(spec.key, tf.tensor(joined[i], [...spec.shape], 'float32'));
    });
  }

  async export(): Promise<NamedTensors> {
    const named = new Map<string, NamedTensor>();
    for (const spec of this.specs) {
      const data = Float32Array.from(await this.get(spec.key).data());
      for (const [name, tensor] of splitParameter(spec, data)) named.set(name, tensor);
    }
    return named;
  }

  clone(): ParameterSet {
    const copies = Array.from(this.tensors, ([key, tensor]): [string, tf.Tensor] => [
      key,
      tf.keep(tf.clone(tensor)),
    ]);
    return new ParameterSet(this.specs, new Map(copies));
  }

  dispose(): void {
    for (const tensor of this.tensors.values()) tensor.dispose();
    this.tensors.clear();
  }
}
