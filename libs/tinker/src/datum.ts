/** A sequence of N tokens whose tokens 1 … N − 1 are targets, each given those before it. All columns are [N − 1], by target. */
export interface TargetColumns {
  /** [N] at least two. */
  readonly tokenIds: Int32Array;
  /** 1 = the loss counts this target. */
  readonly mask: Uint8Array;
  /** log π that ratios are taken against, nats; only of a loss with ratios. */
  readonly logprobs?: Float32Array;
  readonly advantages?: Float32Array;
}

interface TensorData {
  readonly data: readonly number[];
  readonly dtype: 'float32' | 'int64';
  readonly shape: readonly [number];
}

/** A sequence as the API takes it. */
export interface Datum {
  readonly model_input: {
    readonly chunks: readonly [{ readonly type: 'encoded_text'; readonly tokens: readonly number[] }];
  };
  readonly loss_fn_inputs: Readonly<Record<string, TensorData>>;
}

/**
 * Encodes a sequence. Servers take columns of another length than the targets' and fill them up with zeros in silence, so lengths are checked here.
 *
 * @throws RangeError for fewer than two tokens, or a column of another length
 */
export function makeDatum({ tokenIds, mask, logprobs, advantages }: TargetColumns): Datum {
  const numTargets = tokenIds.length - 1;
  if (numTargets < 1) throw new RangeError(`a sequence needs two tokens or more, has ${tokenIds.length}`);
  const float = (name: string, column: ArrayLike<number>): TensorData => {
    if (column.length !== numTargets)
      throw new RangeError(
        `${name} has ${column.length} numbers, must have one for each of ${numTargets} targets`,
      );
    return { data: Array.from(column), dtype: 'float32', shape: [numTargets] };
  };
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: Array.from(tokenIds.subarray(0, -1)) }] },
    loss_fn_inputs: {
      target_tokens: { data: Array.from(tokenIds.subarray(1)), dtype: 'int64', shape: [numTargets] },
      weights: float('mask', mask),
      ...(logprobs ? { logprobs: float('logprobs', logprobs) } : {}),
      ...(advantages ? { advantages: float('advantages', advantages) } : {}),
    },
  };
}
