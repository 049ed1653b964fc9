import { uuidV7 } from '@retrace/client';
import type { BookEvent, NameEnded, StepAdded } from './book-event.js';
import { newBranch, type Branch, type BranchHead, type Origin, type Point } from './branch.js';
import { isUuid } from './is-uuid.js';
import type { Place, PromptKeys } from './prompt-keys.js';
import { Scope } from './scope.js';

/** Where a call was put when its request came. */
export interface CallPlace {
  readonly branch: Branch;
  readonly step: number;
  /** The conversation before the call; its prompt begins with it. */
  readonly before: Place;
  readonly point: Point;
}

/** Names whose end is remembered, so that the next call of that name begins another episode. */
const MAX_ENDED_NAMES = 50_000;

/**
 * The episodes that are being recorded, and which call belongs to which. It changes by events only, so that the same events make the
 * same book after a restart; a call that is under way is not in them.
 */
export class EpisodeBook {
  private readonly scopes = new Map<string, Scope>();
  private readonly branches = new Map<string, Branch>();
  private readonly endedNames = new Map<string, NameEnded>();
  private readonly groups = new Map<string, number>();

  get numOpen(): number {
    return this.branches.size;
  }

  open(): readonly Branch[] {
    return [...this.branches.values()];
  }

  /** An open episode by its id, or by the name of an agent: then of those that came from it the one that went on. */
  find(run: string, name: string): Branch | null {
    const exact = this.branches.get(makeKey(run, name));
    const scope = exact && exact.episode !== exact.root ? undefined : this.scopes.get(makeKey(run, name));
    const root = scope?.branches.values().next().value ?? exact;
    return root ? this.newestOf(root) : null;
  }

  /** The episode that a name had last; null when it is not known. */
  endedEpisode(run: string, name: string): string | null {
    return this.endedNames.get(makeKey(run, name))?.episode ?? null;
  }

  /** Finds the place of a call, and holds it until `release`. @param name of the episode, as the agent gave it */
  place(run: string, name: string | null, keys: PromptKeys, nowMs: number): CallPlace {
    const named = name === null ? undefined : this.branches.get(makeKey(run, name));
    const scope = this.scopeOf(run, named ? named.scope : name);
    const decision = scope.decide(keys);
    const branch =
      decision.kind === 'continue'
        ? decision.branch
        : newBranch(this.newHead(scope, decision.origin), keys.system, nowMs);
    const { episode, numSteps: step, tip: before } = branch;
    const point = { length: keys.length, key: keys.keyAt(keys.length), episode, step, isAnswer: false };
    scope.hold(branch);
    this.add(scope, branch);
    scope.addPoint(point);
    return { branch, step, before, point };
  }

  /** Ends the hold of a placement; a new episode without a step is forgotten. */
  release({ branch, point }: CallPlace): void {
    const scope = this.scopeOf(branch.run, branch.scope);
    scope.letGo(branch);
    scope.removePoint(point);
    if (branch.numSteps === 0) this.remove(branch);
  }

  /** Open episodes that came from the same root as this one, itself included; of a derived episode only itself. */
  familyOf(branch: Branch): readonly Branch[] {
    if (branch.episode !== branch.root) return [branch];
    return this.open().filter(({ run, root }) => run === branch.run && root === branch.root);
  }

  /** Of the episodes that are forks of each other, the one with the newest call. */
  newestOf({ run, line }: Branch): Branch {
    const forks = this.open().filter((branch) => branch.run === run && branch.line === line);
    return forks.reduce((a, b) => (b.lastAtMs >= a.lastAtMs ? b : a));
  }

  /** Place in its group of the next episode that begins in it. */
  nextMember(run: string, group: string): number {
    return this.groups.get(makeKey(run, group)) ?? 0;
  }

  apply(event: BookEvent): void {
    switch (event.type) {
      case 'step':
        this.addStep(event);
        break;
      case 'end':
        this.end(event.run, event.episode);
        break;
      case 'branch': {
        const branch = { ...event.branch, isBusy: false };
        const scope = this.scopeOf(branch.run, branch.scope);
        this.add(scope, branch);
        for (const point of event.points) scope.addPoint(point);
        break;
      }
      case 'name':
        this.endedNames.set(makeKey(event.run, event.name), event);
        break;
      case 'group':
        this.groups.set(makeKey(event.run, event.group), event.count);
    }
  }

  /** Events that make this book, without calls under way. */
  snapshot(): readonly BookEvent[] {
    const kept = this.open().filter(({ numSteps }) => numSteps > 0);
    return [
      ...this.endedNames.values(),
      ...[...this.groups].map(([key, count]): BookEvent => {
        const [run, group] = JSON.parse(key) as [string, string];
        return { type: 'group', run, group, count };
      }),
      ...kept.map((branch): BookEvent => {
        const points = this.scopeOf(branch.run, branch.scope).pointsOf(branch.episode);
        const isUnderWay = ({ isAnswer, step }: Point) => !isAnswer && step >= branch.numSteps;
        return { type: 'branch', branch, points: points.filter((point) => !isUnderWay(point)) };
      }),
    ];
  }

  private addStep(event: StepAdded): void {
    const { head, step, prompt, tip, tokens } = event;
    const scope = this.scopeOf(head.run, head.scope);
    const branch = scope.branches.get(head.episode) ?? newBranch(head, event.system, event.atMs);
    this.add(scope, branch);
    scope.moveTip(branch, tip, step + 1);
    if (tokens) branch.tokens = [...branch.tokens.slice(0, tokens.keptPrefix), ...tokens.ids];
    branch.toolsKey = event.toolsKey;
    branch.hasPendingCalls = event.hasPendingCalls;
    branch.lastAtMs = event.atMs;
    const at = { episode: head.episode, step };
    scope.addPoint({ ...prompt, ...at, isAnswer: false });
    if (tip.key !== prompt.key) scope.addPoint({ ...tip, ...at, isAnswer: true });
    if (event.group !== undefined && step === 0) {
      this.groups.set(makeKey(head.run, event.group), this.nextMember(head.run, event.group) + 1);
    }
  }

  private end(run: string, episode: string): void {
    const branch = this.branches.get(makeKey(run, episode));
    if (!branch) return;
    const { scope: name, generation } = branch;
    this.remove(branch);
    // The id of a later episode must be another one, by whichever of its names an agent asks for it.
    this.endedNames.set(makeKey(run, episode), { type: 'name', run, name: episode, generation, episode });
    if (name !== null && !this.scopes.has(makeKey(run, name)))
      this.endedNames.set(makeKey(run, name), { type: 'name', run, name, generation, episode });
    const oldest = this.endedNames.keys().next().value;
    if (this.endedNames.size > MAX_ENDED_NAMES && oldest !== undefined) this.endedNames.delete(oldest);
  }

  private add(scope: Scope, branch: Branch): void {
    scope.add(branch);
    this.branches.set(makeKey(branch.run, branch.episode), branch);
  }

  private remove(branch: Branch): void {
    const scope = this.scopeOf(branch.run, branch.scope);
    scope.remove(branch);
    this.branches.delete(makeKey(branch.run, branch.episode));
    if (scope.branches.size === 0) this.scopes.delete(makeKey(branch.run, branch.scope ?? ''));
  }

  private scopeOf(run: string, name: string | null): Scope {
    const key = makeKey(run, name ?? '');
    const known = this.scopes.get(key);
    if (known) return known;
    const ended = name === null ? undefined : this.endedNames.get(key);
    const scope = new Scope(run, name, ended ? ended.generation + 1 : 0);
    this.scopes.set(key, scope);
    return scope;
  }

  private newHead(scope: Scope, origin: Origin): BranchHead {
    const { run, name, generation } = scope;
    const from = origin.kind === 'root' ? undefined : this.branches.get(makeKey(run, origin.of));
    if (!from) {
      const episode = rootId(name, generation);
      return { run, scope: name, generation, episode, root: episode, line: episode, origin };
    }
    const { root, line } = from;
    const episode = uuidV7();
    return {
      run,
      scope: name,
      generation,
      episode,
      root,
      line: origin.kind === 'fork' ? line : episode,
      origin,
    };
  }
}

/** Id of the first episode of a name: the name itself, so that rewards find it by the name. */
function rootId(name: string | null, generation: number): string {
  return name !== null && generation === 0 ? name : uuidV7();
}

function makeKey(run: string, name: string): string {
  return JSON.stringify([run, name]);
}

/** Name that an agent gave to an episode whose id is another one; undefined where the id says it. */
export function makeExternalId({ scope, episode, root }: BranchHead): string | undefined {
  return scope !== null && episode === root && episode !== scope && !isUuid(scope) ? scope : undefined;
}
