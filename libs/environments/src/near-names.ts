/**
 * The known names nearest to a mistyped one, nearest first: those within a third of its length in
 * edits (insert, delete, replace), or that contain it or are contained in it.
 */
export function nearNames(name: string, known: readonly string[], limit = 3): string[] {
  const wanted = name.toLowerCase();
  const maxDistance = Math.max(2, Math.floor(wanted.length / 3));
  return known
    .map((candidate) => {
      const lower = candidate.toLowerCase();
      const contains = wanted.length > 0 && (lower.includes(wanted) || wanted.includes(lower));
      return { candidate, distance: contains ? 1 : editDistance(wanted, lower) };
    })
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Levenshtein distance, two rows at a time. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[j] + 1, current[j - 1] + 1));
    }
    previous = current;
  }
  return previous[b.length];
}
