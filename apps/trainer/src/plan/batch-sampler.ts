import { dataSources, type Recipe } from '@retrace/config';
import { deriveSeed, Pcg32 } from '@retrace/random';
import { divideByShare, sampleBlock } from '@retrace/algorithms/sampling';
import type { SamplingFacts, SamplingQuery } from '@retrace/store';
import type { GroupState, RunState, SamplingBlocked } from '@retrace/trajectory';
import type { DrawnGroup } from './drawn-group.js';
import { drawOwn, ownGroup } from './own-sampler.js';
import { eligibleGroups, sampleGroups } from './sampler.js';
import { StoredGroups } from './stored-groups.js';
import { StoredSampler } from './stored-sampler.js';

/** Where a sampler reads about stored episodes; `TrajectoryReader` is one. */
export interface FactsSource {
  readDatasetFacts(dataset: string, query: SamplingQuery): Promise<SamplingFacts>;
  readEpisodesFacts(
    runId: string,
    episodeIds: readonly string[],
    query: SamplingQuery,
  ): Promise<SamplingFacts>;
}

/** The outcome of a draw. */
export type BatchDraw =
  | {
      readonly kind: 'drawn';
      readonly groups: readonly DrawnGroup[];
      readonly tooStale: readonly GroupState[];
    }
  | {
      readonly kind: 'wait';
      /** Why, in words a person can act on. */
      readonly reason: string;
      /** Null where the limiter is not the reason. */
      readonly block: SamplingBlocked | null;
      readonly tooStale: readonly GroupState[];
    }
  /** A source will never give its share again. */
  | { readonly kind: 'exhausted'; readonly reason: string };

/** Draws the groups of updates from the recipe's sources. Everything follows from the recipe's seed and the log. */
export class BatchSampler {
  private constructor(
    private readonly recipe: Recipe,
    private readonly facts: FactsSource,
    /** By place in the recipe's sources; null for the run's own. */
    private readonly stored: readonly (StoredSampler | null)[],
  ) {}

  /** Reads the lists of groups of all stored sources. */
  static async open(recipe: Recipe, facts: FactsSource, run: RunState): Promise<BatchSampler> {
    const sampler = recipe.sampler ?? { rule: 'fifo' };
    const stored: (StoredSampler | null)[] = [];
    for (const [source, { from, contents }] of dataSources(recipe).entries()) {
      if (from === 'own' || contents === undefined) {
        stored.push(null);
        continue;
      }
      const groups = new StoredGroups(await facts.readDatasetFacts(contents.dataset, samplingQuery(recipe)));
      stored.push(new StoredSampler({ source, groups, sampler, record: run.sampling.rowsOf(source) }));
    }
    return new BatchSampler(recipe, facts, stored);
  }

  /** Draws the groups of an update of the policy. */
  async draw(run: RunState, updateNumber: number): Promise<BatchDraw> {
    const { numDiscards } = run.sampling;
    const nextFloat = this.randomFor(updateNumber, numDiscards);
    const counts = this.countsFor(run);
    const groups: DrawnGroup[] = [];
    let tooStale: readonly GroupState[] = [];
    for (const [source, sampler] of this.stored.entries()) {
      const count = counts[source];
      if (count === 0) continue;
      if (sampler !== null) {
        const drawn = sampler.draw(count, nextFloat);
        if (drawn.length < count) return exhausted(source, drawn.length, count);
        groups.push(...drawn);
        continue;
      }
      const own = await this.drawFromRun(run, { source, count, nextFloat });
      if (own.kind !== 'drawn') return own;
      ({ tooStale } = own);
      groups.push(...own.groups);
    }
    return { kind: 'drawn', groups, tooStale };
  }

  /**
   * Draws others in the place of stored groups of an update that is being planned.
   *
   * @param named all groups that it has named so far, those to replace too
   * @param attempt counts the replacements of the update from 1 on
   */
  replace(
    groups: readonly DrawnGroup[],
    {
      named,
      updateNumber,
      attempt,
    }: { readonly named: readonly DrawnGroup[]; readonly updateNumber: number; readonly attempt: number },
  ): DrawnGroup[] {
    return this.stored.flatMap((sampler, source) => {
      const count = groups.filter((group) => group.source === source).length;
      if (sampler === null || count === 0) return [];
      const before = named.filter((group) => group.source === source);
      return sampler.draw(count, this.randomFor(updateNumber, `replace ${attempt}`, source), before);
    });
  }

  /** Tells that a plan has these groups. */
  planned(sources: ArrayLike<number> | null, rows: ArrayLike<number> | null): void {
    if (sources === null || rows === null) return;
    for (const [source, sampler] of this.stored.entries())
      sampler?.planned(Array.from(rows).filter((row, g) => row >= 0 && sources[g] === source));
  }

  private async drawFromRun(
    run: RunState,
    {
      source,
      count,
      nextFloat,
    }: { readonly source: number; readonly count: number; readonly nextFloat: () => number },
  ): Promise<Exclude<BatchDraw, { kind: 'exhausted' }>> {
    const { sampler, collection } = this.recipe;
    const staleness = {
      maxStaleness: collection.maxStaleness,
      stalenessOf: (behaviorVersion: number) => run.stalenessOf(behaviorVersion),
    };
    if (!sampler || sampler.rule === 'fifo') {
      const batch = sampleGroups(run.groups.all(), { groupsPerUpdate: count, ...staleness });
      const { tooStale } = batch;
      if (!batch.ok) return { kind: 'wait', reason: batch.waitingFor, block: null, tooStale };
      return (
        this.blocked(run, count, tooStale) ?? {
          kind: 'drawn',
          tooStale,
          groups: batch.groups.map((group) => ownGroup(group, source, null)),
        }
      );
    }
    const { eligible, tooStale } = eligibleGroups(run.groups.all(), staleness);
    if (eligible.length < count) {
      const reason = `groups: ${eligible.length} of ${count} are there`;
      return { kind: 'wait', reason, block: null, tooStale };
    }
    const block = this.blocked(run, count, tooStale);
    if (block !== null) return block;
    const facts = await this.factsOf(run.runId, eligible);
    const groups = drawOwn(eligible, { source, sampler, count, nextFloat, facts });
    return { kind: 'drawn', groups, tooStale };
  }

  /** Null where the limiter lets so many groups be sampled. */
  private blocked(
    { sampling }: RunState,
    count: number,
    tooStale: readonly GroupState[],
  ): Extract<BatchDraw, { kind: 'wait' }> | null {
    const limiter = this.recipe.sampler?.limiter;
    if (!limiter) return null;
    const numSampled = sampling.numSampled + sampling.numCredited(limiter.samplesPerInsert);
    const counts = { numInserted: sampling.numInserted, numSampled };
    const reason = sampleBlock(counts, limiter, count);
    return reason === null
      ? null
      : { kind: 'wait', reason, block: { side: 'trainer', reason, ...counts }, tooStale };
  }

  private async factsOf(runId: string, groups: readonly GroupState[]): Promise<StoredGroups | null> {
    const { sampler } = this.recipe;
    if (!sampler?.curriculum && typeof sampler?.priority !== 'object') return null;
    const episodeIds = groups.flatMap((group) => group.episodeIds);
    return new StoredGroups(
      await this.facts.readEpisodesFacts(runId, episodeIds, samplingQuery(this.recipe)),
    );
  }

  /** Groups of each source in the next update. */
  private countsFor({ sampling }: RunState): Int32Array {
    const sources = dataSources(this.recipe).map(({ share = 1 }, source) => ({
      share,
      numGiven: sampling.numGiven(source),
    }));
    return divideByShare(sources, this.recipe.collection.groupsPerRound);
  }

  private randomFor(updateNumber: number, ...parts: readonly (string | number)[]): () => number {
    const random = new Pcg32(deriveSeed(this.recipe.seed, 'sampler', updateNumber, ...parts));
    return () => random.nextFloat();
  }
}

function samplingQuery({ sampler }: Recipe): SamplingQuery {
  const { priority } = sampler ?? {};
  return {
    prioritySql: typeof priority === 'object' ? priority.sql : null,
    family: sampler?.curriculum?.family ?? null,
  };
}

function exhausted(source: number, numLeft: number, count: number): BatchDraw {
  const reason = `data.sources.${source} has ${numLeft} groups left that may be sampled, and an update takes ${count} of it`;
  return { kind: 'exhausted', reason };
}
