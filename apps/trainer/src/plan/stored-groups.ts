import type { SamplingFacts } from '@retrace/store';
import { PackedIds } from './packed-ids.js';

/** Episodes of known success of a family of tasks. */
export interface SuccessCounts {
  readonly numSuccesses: number;
  readonly numEpisodes: number;
}

/**
 * The groups of a source that does not change, by row, in the order in which they began. Flat columns: about 40 bytes a group and 20 an
 * episode.
 */
export class StoredGroups {
  readonly numGroups: number;
  private readonly groupIds: PackedIds;
  private readonly episodeIds: PackedIds;
  private readonly runNames: readonly string[];
  /** [G] */
  private readonly runs: Int32Array;
  /** [G + 1] */
  private readonly memberOffsets: Int32Array;
  /** [E] */
  private readonly numSteps: Int32Array;
  /** [G] Mean of the priority's expression over the members; NaN where none has one. Null where none was asked for. */
  private readonly meanPriorities: Float64Array | null;

  /** [E] */
  private readonly families: Float64Array;
  /** [E] −1 = unknown. */
  private readonly successes: Int8Array;

  /** @param facts members of a group follow each other */
  constructor(facts: SamplingFacts) {
    const { runIds, groupIds, episodeIds, numSteps, priorities } = facts;
    this.families = facts.families;
    this.successes = facts.successes;
    const firsts = episodeIds.flatMap((_, e) =>
      e > 0 && groupIds[e] === groupIds[e - 1] && runIds[e] === runIds[e - 1] ? [] : [e],
    );
    this.numGroups = firsts.length;
    this.memberOffsets = Int32Array.from([...firsts, episodeIds.length]);
    this.groupIds = new PackedIds(firsts.map((e) => groupIds[e]));
    this.episodeIds = new PackedIds(episodeIds);
    this.numSteps = numSteps;
    this.runNames = [...new Set(runIds)];
    const places = new Map(this.runNames.map((runId, place) => [runId, place]));
    this.runs = Int32Array.from(firsts, (e) => places.get(runIds[e]) ?? 0);
    this.meanPriorities =
      priorities && Float64Array.from(firsts, (_, row) => computeMean(priorities, this.memberOffsets, row));
  }

  runId(row: number): string {
    return this.runNames[this.runs[row]];
  }

  groupId(row: number): string {
    return this.groupIds.get(row);
  }

  members(row: number): { readonly episodeIds: string[]; readonly numSteps: number[] } {
    const [from, to] = [this.memberOffsets[row], this.memberOffsets[row + 1]];
    const places = Array.from({ length: to - from }, (_, m) => from + m);
    return {
      episodeIds: places.map((e) => this.episodeIds.get(e)),
      numSteps: places.map((e) => this.numSteps[e]),
    };
  }

  /** Value of the priority's expression; null where it has none. */
  priority(row: number): number | null {
    const value = this.meanPriorities?.[row] ?? NaN;
    return Number.isNaN(value) ? null : value;
  }

  /** [G] Successes of each group's family of tasks, over all episodes here. */
  familySuccess(): readonly SuccessCounts[] {
    const { families, successes } = this;
    const counts = new Map<number, { numSuccesses: number; numEpisodes: number }>();
    families.forEach((family, e) => {
      const known = counts.get(family) ?? { numSuccesses: 0, numEpisodes: 0 };
      if (successes[e] >= 0) {
        known.numEpisodes += 1;
        known.numSuccesses += successes[e];
      }
      counts.set(family, known);
    });
    const none = { numSuccesses: 0, numEpisodes: 0 };
    return Array.from(
      { length: this.numGroups },
      (_, row) => counts.get(families[this.memberOffsets[row]]) ?? none,
    );
  }
}

function computeMean(values: Float64Array, offsets: Int32Array, row: number): number {
  const known = values.subarray(offsets[row], offsets[row + 1]).filter((value) => !Number.isNaN(value));
  return known.length === 0 ? NaN : known.reduce((sum, value) => sum + value, 0) / known.length;
}
