/** One broken rule: which field, what it holds, what it must hold. */
export interface Problem {
  /** Path from the event's kind on, such as `StepRecorded.rewardNames[2]`. */
  readonly field: string;
  readonly value: unknown;
  /** Starts with "must". */
  readonly rule: string;
}

/** The problem as one sentence. */
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
