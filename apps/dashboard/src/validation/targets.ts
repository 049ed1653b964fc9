const DEFAULT_TARGETS = [0.5, 0.9];

/** A success rate as the names of metrics have it. */
export function toPercent(target: number): number {
  return Number((target * 100).toPrecision(6));
}

/** The success rates of which a recipe's `evaluation.targets` asks when they were reached. */
export function readTargets(recipe: unknown): readonly number[] {
  const { evaluation } = (recipe ?? {}) as { evaluation?: { targets?: readonly number[] | null } };
  return evaluation?.targets ?? DEFAULT_TARGETS;
}
