/**
 * The known names nearest to a mistyped one, nearest first: those that contain it or are contained in it,
 * and those within a third of its length in edits (insert, delete, replace). Letter case doesn't count.
 */
export function nearNames(name: string, known: readonly string[], limit = 3): string[] {
  const wanted = name.toLowerCase();
  const maxDistance = Math.max(2, Math.floor(wanted.length / 3));
  const distanceTo = (candidate: string): number => {
    const lower = candidate.toLowerCase();
    const contains = wanted.length > 1 && (lower.includes(wanted) || wanted.includes(lower));
    return contains ? 1 : editDistance(wanted, lower);
  };
  return known
    .map((candidate) => ({ candidate, distance: distanceTo(candidate) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Hint for an unknown name: the nearest known names, or else all of them. */
export function hintFor(name: string, known: readonly string[]): string {
  const near = nearNames(name, known);
  return near.length > 0 ? `did you mean ${near.join(', ')}?` : `known: ${known.join(', ')}`;
}

/** Levenshtein distance, row by row. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row.push(Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + Number(a[i - 1] !== b[j - 1])));
    }
    above = row;
  }
  return above[b.length];
}
