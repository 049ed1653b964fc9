import type { Branch, Origin, Point } from './branch.js';
import type { PromptKeys } from './prompt-keys.js';

/** Where a call belongs: the branch that it continues, or the origin of a new one. */
export type BranchDecision =
  | { readonly kind: 'continue'; readonly branch: Branch }
  | { readonly kind: 'begin'; readonly origin: Origin };

/**
 * Episodes among which a call is looked for: those of one name, or all of a run that have none.
 *
 * A call continues the episode whose whole conversation so far its prompt begins with. Otherwise it is a fork of the episode with which
 * it has most in common; without a name, that must include an answer of the model, as equal tasks of independent agents begin alike. In a
 * named episode, a prompt with other system messages is that of a sub-agent.
 */
export class Scope {
  readonly branches = new Map<string, Branch>();
  private readonly points = new Map<string, Point[]>();
  private readonly pointsByEpisode = new Map<string, Point[]>();
  private readonly lengths = new Map<number, number>();

  constructor(
    readonly run: string,
    readonly name: string | null,
    readonly generation: number,
  ) {}

  decide(keys: PromptKeys): BranchDecision {
    const shared = this.sharedPoints(keys);
    for (const point of shared) {
      const branch = this.branches.get(point.episode);
      if (branch && !branch.isBusy && !branch.hasEnded && branch.tip.key === point.key && branch.numSteps > 0)
        return { kind: 'continue', branch };
    }
    const origin =
      this.name === null ? forkOf(shared.find(({ isAnswer }) => isAnswer)) : this.namedOrigin(shared, keys);
    return { kind: 'begin', origin: origin ?? { kind: 'root' } };
  }

  addPoint(point: Point): void {
    const points = this.points.get(point.key);
    if (points) points.push(point);
    else this.points.set(point.key, [point]);
    this.pointsByEpisode.set(point.episode, [...this.pointsOf(point.episode), point]);
    this.lengths.set(point.length, (this.lengths.get(point.length) ?? 0) + 1);
  }

  removePoint(point: Point): void {
    const left = (this.points.get(point.key) ?? []).filter((other) => other !== point);
    if (left.length > 0) this.points.set(point.key, left);
    else this.points.delete(point.key);
    this.pointsByEpisode.set(
      point.episode,
      this.pointsOf(point.episode).filter((other) => other !== point),
    );
    const numAtLength = (this.lengths.get(point.length) ?? 0) - 1;
    if (numAtLength > 0) this.lengths.set(point.length, numAtLength);
    else this.lengths.delete(point.length);
  }

  /** Forgets an episode. */
  remove(episode: string): void {
    this.branches.delete(episode);
    for (const point of this.pointsOf(episode)) this.removePoint(point);
    this.pointsByEpisode.delete(episode);
  }

  pointsOf(episode: string): readonly Point[] {
    return this.pointsByEpisode.get(episode) ?? [];
  }

  /** Points that the prompt begins with: the longest first, of equally long ones the newest. */
  private sharedPoints(keys: PromptKeys): Point[] {
    if (this.points.size === 0) return [];
    return keys
      .lengths(new Set(this.lengths.keys()))
      .flatMap((length) =>
        (this.points.get(keys.keyAt(length)) ?? []).filter((point) => point.length === length).reverse(),
      );
  }

  private namedOrigin(shared: readonly Point[], keys: PromptKeys): Origin | null {
    const fork = forkOf(shared[0]);
    if (fork) return fork;
    const newest = [...this.branches.values()].sort((a, b) => b.lastAtMs - a.lastAtMs);
    if (newest.length === 0) return null;
    const alike = newest.find(({ system }) => system === keys.system);
    if (alike) return { kind: 'fork', of: alike.episode, step: 0 };
    const caller = newest.find(({ hasPendingCalls }) => hasPendingCalls) ?? this.root;
    return caller ? { kind: 'call', of: caller.episode } : null;
  }

  private get root(): Branch | undefined {
    return this.branches.values().next().value;
  }
}

function forkOf(point: Point | undefined): Origin | null {
  if (!point) return null;
  return { kind: 'fork', of: point.episode, step: point.isAnswer ? point.step + 1 : point.step };
}
