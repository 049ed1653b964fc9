import * as tf from '@retrace/compute/tensorflow';
import { encodeParameters } from '../checkpoints/parameter-file.js';
import type { ParameterFileOptions } from '../checkpoints/parameter-file.js';
import { readParameter, requireParameters } from '../checkpoints/tensor-source.js';
import type { TensorSource } from '../checkpoints/tensor-source.js';
import { freeze } from '@retrace/compute';
import { joinParameter, splitParameters } from '../parameters/join-parameter.js';
import type { NamedTensor, NamedTensors } from '../parameters/named-tensors.js';
import type { ParameterSpec } from '../parameters/parameter-spec.js';

/**
 * The weights of a model, one device tensor per parameter.
 * Tensors are replaced, never mutated; the set disposes what it replaces.
 */
export class ParameterSet {
  private readonly specByKey: ReadonlyMap<string, ParameterSpec>;

  private constructor(
    readonly specs: readonly ParameterSpec[],
    private readonly tensors: Map<string, tf.Tensor>,
  ) {
    this.specByKey = new Map(specs.map((spec) => [spec.key, spec]));
  }

  static fromNamed(specs: readonly ParameterSpec[], named: NamedTensors): ParameterSet {
    const set = new ParameterSet(specs, new Map());
    set.assign(named);
    return set;
  }

  /** Takes ownership of the tensors, one for each spec. */
  static of(specs: readonly ParameterSpec[], tensors: ReadonlyMap<string, tf.Tensor>): ParameterSet {
    const set = new ParameterSet(specs, new Map());
    for (const [key, tensor] of tensors) set.replace(key, tensor);
    return set;
  }

  /** Fills the parameters one after the other; if one fails, those before it are freed. */
  static async load(
    specs: readonly ParameterSpec[],
    valuesOf: (spec: ParameterSpec) => Float32Array | Promise<Float32Array>,
  ): Promise<ParameterSet> {
    const set = new ParameterSet(specs, new Map());
    try {
      for (const spec of specs) {
        set.replace(spec.key, tf.tensor(await valuesOf(spec), [...spec.shape], 'float32'));
      }
      return set;
    } catch (error) {
      set.dispose();
      throw error;
    }
  }

  has(key: string): boolean {
    return this.specByKey.has(key);
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
    if (this.specByKey.get(key)?.isFrozen) freeze(tensor);
  }

  /**
   * Replaces the parameters of `specs` (default: all).
   *
   * @throws PolicyError `TENSOR_MISMATCH`, before anything is replaced, if one is missing or has another shape
   */
  assign(named: NamedTensors, specs: readonly ParameterSpec[] = this.specs): void {
    const joined = specs.map((spec) => joinParameter(spec, named));
    specs.forEach((spec, i) => {
      this.replace(spec.key, tf.tensor(joined[i], [...spec.shape], 'float32'));
    });
  }

  /**
   * Replaces the parameters of `specs` from files, one at a time: the peak of memory is the model and its largest parameter.
   * All names and shapes are checked before anything is replaced; if reading fails after that, some parameters are replaced.
   */
  async assignFrom(source: TensorSource, specs: readonly ParameterSpec[] = this.specs): Promise<void> {
    requireParameters(source, specs);
    for (const spec of specs) {
      this.replace(spec.key, tf.tensor(await readParameter(source, spec), [...spec.shape], 'float32'));
    }
  }

  async export(specs: readonly ParameterSpec[] = this.specs): Promise<NamedTensors> {
    const named = new Map<string, NamedTensor>();
    for (const spec of specs) {
      const data = Float32Array.from(await this.values(spec));
      for (const [name, tensor] of splitParameters([spec], data)) named.set(name, tensor);
    }
    return named;
  }

  /** Encodes parameters as a safetensors file in pieces; one parameter is in memory at a time. */
  encode(specs: readonly ParameterSpec[], options: ParameterFileOptions): AsyncGenerator<Uint8Array> {
    return encodeParameters(
      specs.map((spec) => ({ specs: [spec], values: () => this.values(spec) })),
      options,
    );
  }

  clone(): ParameterSet {
    const copy = new ParameterSet(this.specs, new Map());
    for (const [key, tensor] of this.tensors) copy.replace(key, tf.clone(tensor));
    return copy;
  }

  /** The values of a parameter, which the caller must not change. */
  async values({ key }: ParameterSpec): Promise<Float32Array> {
    return (await this.get(key).data()) as Float32Array;
  }

  dispose(): void {
    for (const tensor of this.tensors.values()) tensor.dispose();
    this.tensors.clear();
  }
}
