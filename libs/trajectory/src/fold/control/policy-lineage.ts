import type { FileRef, PolicyPublished } from '../../events/event.js';

export interface PolicyState {
  readonly policyVersion: number;
  readonly parentVersion: number | null;
  readonly updateNumber: number;
  readonly epoch: number;
  readonly weights: FileRef;
  readonly modelHash: string;
  readonly publishedAtUs: number;
}

/** The policy versions of a run and who descends from whom. */
export class PolicyLineage {
  private readonly policies = new Map<number, PolicyState>();
  private latestPolicy: PolicyState | null = null;

  /** The last one published; null before the first. */
  get latest(): PolicyState | null {
    return this.latestPolicy;
  }

  get numPolicies(): number {
    return this.policies.size;
  }

  get(policyVersion: number): PolicyState | undefined {
    return this.policies.get(policyVersion);
  }

  /** In order of publication. */
  all(): IterableIterator<PolicyState> {
    return this.policies.values();
  }

  /** False when the version is there already: the first publication counts. */
  add(published: PolicyPublished, publishedAtUs: number): boolean {
    if (this.policies.has(published.policyVersion)) return false;
    const policy = { ...published, publishedAtUs };
    this.policies.set(policy.policyVersion, policy);
    this.latestPolicy = policy;
    return true;
  }

  /**
   * How many versions lie between a behavior policy and the current one: steps from `currentVersion` up the parent chain to
   * `behaviorVersion`. 0 for the same version; null when the current policy does not descend from it, or either is unknown.
   */
  staleness(behaviorVersion: number, currentVersion: number): number | null {
    let policy = this.policies.get(currentVersion);
    let numVersions = 0;
    // Parents have lower versions, so a version below the wanted one ends the search.
    while (policy !== undefined && policy.policyVersion > behaviorVersion && policy.parentVersion !== null) {
      policy = this.policies.get(policy.parentVersion);
      numVersions += 1;
    }
    return policy?.policyVersion === behaviorVersion ? numVersions : null;
  }
}
