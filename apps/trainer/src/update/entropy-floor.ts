import type { EntropyFloorRecipe } from '@retrace/config';

/** State of the controller between updates. */
export interface EntropyFloorState {
  /** Weight of the bonus in updates that use it. */
  readonly coefficient: number;
  /** Mean entropy of the last update that measured it, in nats. */
  readonly entropy: number;
}

/** Weight of the entropy bonus in an update: 0 where the update before left the entropy above the target. */
export function entropyCoefficientOf(
  initial: number,
  floor: EntropyFloorRecipe | null | undefined,
  before: EntropyFloorState | null,
): number {
  if (!floor || before === null) return initial;
  return before.entropy <= floor.target ? before.coefficient : 0;
}

/**
 * Adapts the weight α after an update of mean entropy e: α ← clip(α + change, 0, maxCoefficient) where e < target, and α − change
 * where e > target (Skywork-OR1, arXiv:2505.22312). Null without a floor; unchanged where an update measured no entropy (NaN).
 */
export function nextEntropyFloor(
  initial: number,
  floor: EntropyFloorRecipe | null | undefined,
  { before, entropy }: { readonly before: EntropyFloorState | null; readonly entropy: number },
): EntropyFloorState | null {
  if (!floor) return null;
  if (Number.isNaN(entropy)) return before;
  const { target, change, maxCoefficient = 1 } = floor;
  const current = before?.coefficient ?? initial;
  const moved = current + Math.sign(target - entropy) * change;
  return { coefficient: Math.min(Math.max(moved, 0), maxCoefficient), entropy };
}
