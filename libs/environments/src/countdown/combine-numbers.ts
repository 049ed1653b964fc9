import type { Pcg32 } from '@retrace/random';
import { OPERATORS, calculate } from './arithmetic.js';
import { hitsTarget, type CountdownTask } from './countdown-task.js';

/** A number, or an expression of several, with its value. */
export interface Term {
  readonly text: string;
  readonly value: number;
}

/**
 * Finds an expression that uses every number once and hits the target, by trying all: any two terms are combined by any operator until one
 * is left. The order is fixed, so equal tasks, whatever the order of their numbers, get equal expressions. Two combined terms stand
 * in parentheses, so every expression of n numbers has 4n − 5 tokens.
 *
 * @returns null when there is none
 */
export function solveCountdown({ nums, target }: CountdownTask): string | null {
  const sorted = [...nums].sort((a, b) => b - a);
  return search(
    sorted.map((value) => ({ text: `${value}`, value })),
    target,
  );
}

function search(terms: readonly Term[], target: number): string | null {
  if (terms.length === 1) return hitsTarget(terms[0].value, target) ? terms[0].text : null;
  for (const [i, left] of terms.entries()) {
    for (const [j, right] of terms.entries()) {
      if (i === j) continue;
      const rest = terms.filter((_, k) => k !== i && k !== j);
      for (const operator of OPERATORS) {
        // Either order of a sum or a product is the same expression.
        if (j < i && (operator === '+' || operator === '*')) continue;
        const found = search([combine(left, operator, right, rest.length === 0), ...rest], target);
        if (found !== null) return found;
      }
    }
  }
  return null;
}

/** Combines the numbers at random into one expression that uses each of them once. */
export function combineAtRandom(nums: readonly number[], random: Pick<Pcg32, 'nextBelow'>): Term {
  const terms: Term[] = nums.map((value) => ({ text: `${value}`, value }));
  const take = (): Term => terms.splice(random.nextBelow(terms.length), 1)[0];
  while (terms.length > 1) {
    const [left, right] = [take(), take()];
    terms.push(combine(left, OPERATORS[random.nextBelow(OPERATORS.length)], right, terms.length === 0));
  }
  return terms[0];
}

/** @param isWhole whether the result is the whole expression, which needs no parentheses */
function combine(left: Term, operator: (typeof OPERATORS)[number], right: Term, isWhole: boolean): Term {
  const text = `${left.text} ${operator} ${right.text}`;
  return { text: isWhole ? text : `( ${text} )`, value: calculate(operator, left.value, right.value) };
}
