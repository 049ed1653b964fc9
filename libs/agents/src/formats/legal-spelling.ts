const key = (action: string): string => action.toLowerCase().replaceAll(/\s+/g, ' ').trim();

/** Returns the admissible action that differs from `action` in case and blanks only; null when there is none. */
export function legalSpelling(action: string, legalActions: readonly string[]): string | null {
  if (legalActions.includes(action)) return action;
  const wanted = key(action);
  return legalActions.find((legal) => key(legal) === wanted) ?? null;
}
