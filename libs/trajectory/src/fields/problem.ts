/** One broken rule: the field, its value, and the rule. */
export interface Problem {
  /** Path inside the part that was checked; inside a whole event it starts with its kind: `StepRecorded.payload.rewardNames[2]`. */
  readonly field: string;
  readonly value: unknown;
  /** Starts with "must". */
  readonly rule: string;
}

/** Describes a problem in one sentence. */
export function describeProblem({ field, value, rule }: Problem): string {
  return `${field} is ${showValue(value)}; ${rule}`;
}

const MAX_SHOWN_CHARACTERS = 60;

function showValue(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `${value.constructor.name} of ${value.byteLength} bytes`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value !== null && typeof value === 'object') return 'an object';
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'string') return String(value);
  const quoted = JSON.stringify(value.slice(0, MAX_SHOWN_CHARACTERS));
  return value.length > MAX_SHOWN_CHARACTERS ? `${quoted}… (${value.length} characters)` : quoted;
}
