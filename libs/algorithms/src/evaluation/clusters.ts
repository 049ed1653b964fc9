import { checkGroupIds } from '../layout/check.js';

/**
 * Episodes that are evidence only together: those of one group share task and environment seed, so they are drawn and left out
 * as one. Episodes without groups are each a cluster.
 */
export interface Clusters {
  readonly numClusters: number;
  /** Cluster of each episode, numbered by first appearance `[E]`. */
  readonly clusterOf: Int32Array;
}

/** @throws AlgorithmError `INVALID_ARGUMENT` for group numbers that do not fit */
export function clusterByGroup(groupIds: Int32Array | null | undefined, numEpisodes: number): Clusters {
  if (!groupIds)
    return { numClusters: numEpisodes, clusterOf: Int32Array.from({ length: numEpisodes }, (_, e) => e) };
  checkGroupIds('groupIds', groupIds, numEpisodes);
  const numbers = new Int32Array(numEpisodes).fill(-1);
  let numClusters = 0;
  const clusterOf = groupIds.map((group) => {
    if (numbers[group] === -1) numbers[group] = numClusters++;
    return numbers[group];
  });
  return { numClusters, clusterOf };
}

/** Σ over the episodes of each cluster `[C]` of `values [E]`. */
export function sumByCluster(values: ArrayLike<number>, { numClusters, clusterOf }: Clusters): Float64Array {
  const sums = new Float64Array(numClusters);
  for (let e = 0; e < clusterOf.length; e++) sums[clusterOf[e]] += values[e];
  return sums;
}
