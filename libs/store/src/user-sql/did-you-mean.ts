import { nearNames } from '@retrace/algorithms/registry';
import { allowedFunctionNames } from './user-sql-functions.js';

const MIN_FUNCTION_LENGTH = 4;

/** `; did you mean "a"?` for the known name nearest to a mistyped one; empty when none is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [nearest] = nearNames(name, known, 1);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/**
 * The same for a function. Many short names are near to each other, so only a name with the same first letter and about
 * the same length counts: a function that exists but is not allowed should not be taken for a mistyped one.
 */
export function didYouMeanFunction(name: string): string {
  if (name.length < MIN_FUNCTION_LENGTH) return '';
  const similar = allowedFunctionNames().filter(
    (known) => known[0].toLowerCase() === name[0].toLowerCase() && Math.abs(known.length - name.length) <= 1,
  );
  return didYouMean(name, similar);
}
