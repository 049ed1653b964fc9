import type { Branch, Origin, Point } from './branch.js';
import { NewestFirst } from './newest-first.js';
import type { Place, PromptKeys } from './prompt-keys.js';

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
  /** Episodes that the next call may continue, by the key of their whole conversation: those without a call under way. */
  private readonly tips = new NewestFirst<Branch>();
  private readonly points = new NewestFirst<Point>();
  /** Of the points, those after an answer. */
  private readonly answers = new NewestFirst<Point>();
  private readonly pointsByEpisode = new Map<string, Point[]>();
  private readonly lengths = new Map<number, number>();

  constructor(
    readonly run: string,
    readonly name: string | null,
    readonly generation: number,
  ) {}

  /** Of the known places that the prompt begins with the longest counts, and of equally long ones the newest. */
  decide(keys: PromptKeys): BranchDecision {
    const starts = this.name === null ? this.answers : this.points;
    let shared: Point | undefined;
    for (const length of this.lengths.size === 0 ? [] : keys.lengths(this.lengths.keys())) {
      const key = keys.keyAt(length);
      const branch = this.tips.newest(key);
      if (branch) return { kind: 'continue', branch };
      shared ??= starts.newest(key);
    }
    const origin = findFork(shared) ?? (this.name === null ? null : this.namedOrigin(keys));
    return { kind: 'begin', origin: origin ?? { kind: 'root' } };
  }

  add(branch: Branch): void {
    this.branches.set(branch.episode, branch);
    this.offer(branch);
  }

  /** Marks that a call of the episode is under way: no other one may continue it. */
  hold(branch: Branch): void {
    branch.isBusy = true;
    this.tips.remove(branch.tip.key, branch);
  }

  /** Ends what `hold` began. */
  letGo(branch: Branch): void {
    branch.isBusy = false;
    this.offer(branch);
  }

  /** Changes the end of an episode's conversation, with its number of steps. */
  moveTip(branch: Branch, tip: Place, numSteps: number): void {
    this.tips.remove(branch.tip.key, branch);
    branch.tip = tip;
    branch.numSteps = numSteps;
    this.offer(branch);
  }

  addPoint(point: Point): void {
    this.points.add(point.key, point);
    if (point.isAnswer) this.answers.add(point.key, point);
    const points = this.pointsByEpisode.get(point.episode);
    if (points) points.push(point);
    else this.pointsByEpisode.set(point.episode, [point]);
    this.lengths.set(point.length, (this.lengths.get(point.length) ?? 0) + 1);
  }

  removePoint(point: Point): void {
    this.forget(point);
    const left = this.pointsOf(point.episode).filter((other) => other !== point);
    this.pointsByEpisode.set(point.episode, left);
  }

  /** Forgets an episode. */
  remove(branch: Branch): void {
    this.branches.delete(branch.episode);
    this.tips.remove(branch.tip.key, branch);
    for (const point of this.pointsOf(branch.episode)) this.forget(point);
    this.pointsByEpisode.delete(branch.episode);
  }

  pointsOf(episode: string): readonly Point[] {
    return this.pointsByEpisode.get(episode) ?? [];
  }

  private offer(branch: Branch): void {
    if (branch.isBusy || branch.numSteps === 0 || this.branches.get(branch.episode) !== branch) return;
    this.tips.remove(branch.tip.key, branch);
    this.tips.add(branch.tip.key, branch);
  }

  private forget(point: Point): void {
    this.points.remove(point.key, point);
    this.answers.remove(point.key, point);
    const numAtLength = (this.lengths.get(point.length) ?? 0) - 1;
    if (numAtLength > 0) this.lengths.set(point.length, numAtLength);
    else this.lengths.delete(point.length);
  }

  /** The origin of a call whose prompt begins with no known place. */
  private namedOrigin(keys: PromptKeys): Origin | null {
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

function findFork(point: Point | undefined): Origin | null {
  if (!point) return null;
  return { kind: 'fork', of: point.episode, step: point.isAnswer ? point.step + 1 : point.step };
}
