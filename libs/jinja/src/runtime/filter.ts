import type { NamedValues, Value } from '../values/value.js';
import { bindArguments } from './arguments.js';

/** The filters and tests that a filter may call by name. */
export interface FilterContext {
  filter(name: string, value: Value, args: readonly Value[], named: NamedValues): Value;
  test(name: string, value: Value, args: readonly Value[], named: NamedValues): boolean;
}

export interface FilterCall {
  readonly value: Value;
  readonly args: readonly Value[];
  readonly named: NamedValues;
  readonly context: FilterContext;
}

export type Filter = (call: FilterCall) => Value;

/** A filter with named parameters; undefined is passed for those that were not given. */
export function withParameters(
  parameters: readonly string[],
  run: (value: Value, given: readonly (Value | undefined)[]) => Value,
): Filter {
  return ({ value, args, named }) => run(value, bindArguments('filter', parameters, args, named));
}
