export type PolicyErrorCode =
  /** A field of a model, optimizer, loss or generation configuration is invalid. */
  | 'INVALID_CONFIG'
  /** Ragged token columns that contradict each other, or an id outside the vocabulary. */
  | 'INVALID_BATCH'
  /** Named tensors that don't fit the model: missing, unknown, or of another shape. */
  | 'TENSOR_MISMATCH'
  /** A model directory that asks for a feature that `Transformer` does not support. */
  | 'UNSUPPORTED_MODEL'
  /** A file of a model directory that does not exist. */
  | 'FILE_MISSING'
  /** A safetensors, config or tokenizer file that breaks its format. */
  | 'INVALID_FILE'
  /** The tokenizer can't express the text or the id. */
  | 'INVALID_TOKEN'
  /** A generation request that contradicts the state of its slot. */
  | 'INVALID_REQUEST'
  /** A checkpoint file that does not exist. */
  | 'CHECKPOINT_MISSING'
  /** A checkpoint file whose content does not match its reference. */
  | 'CHECKPOINT_CORRUPT'
  /** The disk or the object storage refused a checkpoint file, which is removed. */
  | 'CHECKPOINT_NOT_WRITTEN'
  /** The object storage of checkpoints did not answer, or refused. */
  | 'CHECKPOINT_STORAGE_FAILED'
  /** A number that must be finite is not: a loss, a gradient norm, a logit. */
  | 'NOT_FINITE';

export interface PolicyErrorOptions extends ErrorOptions {
  /** Whether the same call may succeed later without any change by the caller. */
  readonly retriable?: boolean;
}

/** The error of this library. The message names the quantity, the value and the rule. */
export class PolicyError extends Error {
  readonly retriable: boolean;

  constructor(
    readonly code: PolicyErrorCode,
    message: string,
    { retriable = false, ...options }: PolicyErrorOptions = {},
  ) {
    super(message, options);
    this.name = 'PolicyError';
    this.retriable = retriable;
  }
}

const UNREADABLE: ReadonlySet<PolicyErrorCode> = new Set(['CHECKPOINT_MISSING', 'CHECKPOINT_CORRUPT']);

/** Whether an error says that a checkpoint file is missing or damaged, so that a trainer has to make it again. */
export function isUnreadable(error: unknown): error is PolicyError {
  return error instanceof PolicyError && UNREADABLE.has(error.code);
}
