/** The policy of another run that a run started from. */
export interface InitSource {
  readonly runId: string;
  readonly policyVersion: number;
}

/** The policy that the recipe of a run names as the source of its weights; null where it started from none. */
export function readInitSource(recipe: unknown): InitSource | null {
  const source = readField(readField(recipe, 'initFrom'), 'source');
  const [runId, policyVersion] = [readField(source, 'runId'), readField(source, 'policyVersion')];
  return typeof runId === 'string' && typeof policyVersion === 'number' ? { runId, policyVersion } : null;
}

function readField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
