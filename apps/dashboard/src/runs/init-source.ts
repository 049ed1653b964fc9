/** The policy of another run that a run started from. */
export interface InitSource {
  readonly runId: string;
  readonly policyVersion: number;
}

/** The policy that the recipe of a run names as the source of its weights; null where it started from none. */
export function initSourceOf(recipe: unknown): InitSource | null {
  const source = fieldOf(fieldOf(recipe, 'initFrom'), 'source');
  const [runId, policyVersion] = [fieldOf(source, 'runId'), fieldOf(source, 'policyVersion')];
  return typeof runId === 'string' && typeof policyVersion === 'number' ? { runId, policyVersion } : null;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
