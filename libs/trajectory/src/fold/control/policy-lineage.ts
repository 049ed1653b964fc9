import type { PolicyPublished } from '../../events/commit-events.js';

/** The published policies of a run, and which was trained from which. */
export class PolicyLineage {
  private readonly policies = new Map<number, PolicyPublished>();
  private readonly publishedAt = new Map<number, number>();
  private latestPolicy: PolicyPublished | null = null;

  /** The policy published last; null before the first. */
  get latest(): PolicyPublished | null {
    return this.latestPolicy;
  }

  get numPolicies(): number {
    return this.policies.size;
  }

  get(policyVersion: number): PolicyPublished | undefined {
    return this.policies.get(policyVersion);
  }

  /** Policies in order of publication. */
  all(): IterableIterator<PolicyPublished> {
    return this.policies.values();
  }

  /** When a version was published, in microseconds since the Unix epoch; undefined for one that is unknown. */
  publishedAtUs(policyVersion: number): number | undefined {
    return this.publishedAt.get(policyVersion);
  }

  /** Adds a policy; false when the version exists already, because the first publication counts. */
  add(policy: PolicyPublished, occurredAtUs: number): boolean {
    if (this.policies.has(policy.policyVersion)) return false;
    this.policies.set(policy.policyVersion, policy);
    this.publishedAt.set(policy.policyVersion, occurredAtUs);
    this.latestPolicy = policy;
    return true;
  }

  /**
   * Counts the versions from `currentVersion` up the parent chain to `behaviorVersion`: 0 for the same version; null when the
   * current policy does not descend from it, or either is unknown.
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
