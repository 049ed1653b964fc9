import { Injectable } from '@nestjs/common';
import type { ControlEventKind } from '@retrace/trajectory';
import { ControlChanges } from '../store/control-changes.js';
import { KeptOfAllRuns } from '../store/kept-of-all-runs.js';
import { KeptOfAskedRuns } from '../store/kept-of-asked-runs.js';
import { StoreService } from '../store/store.service.js';
import type { RunKind, RunStatus } from './runs.dto.js';

/** A run as the view `runs` has it: the columns that lists show, filter or sort by. Times are as the store writes them. */
export interface RunFacts {
  readonly runId: string;
  readonly name: string;
  readonly kind: RunKind;
  readonly tags: readonly string[];
  readonly starred: boolean;
  readonly archived: boolean;
  readonly environment: string;
  readonly seed: number;
  readonly recipeHash: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly endReason: RunStatus | null;
  /** That the recipe asks for; 0 where nothing is trained. */
  readonly numUpdates: number;
  /** The same in runs of one name whose recipes differ only by seed, engine and processes. */
  readonly seedsKey: string;
  /** Run of the policy that it started from; empty for none. */
  readonly startedFrom: string;
}

/** Columns that only the page of a run shows; texts are JSON, but for the notes. */
export interface RunDetails {
  readonly recipe: string;
  readonly metadata: string | null;
  readonly notes: string;
  readonly baselines: string;
  readonly codeVersion: string;
}

/** A recipe but for its seed, and for the means that no recipe's hash has (`recipeHash` of `@retrace/config`). */
const RECIPE_OF_ANY_SEED = `arraySort(arrayFilter(
    field -> field.1 NOT IN ('seed', 'engine', 'process'), JSONExtractKeysAndValuesRaw(recipe)))`;

const FACTS = `
  SELECT run_id, name, kind, tags, starred, archived, environment, seed, recipe_hash, started_at, ended_at, end_reason,
    JSONExtractUInt(recipe, 'numUpdates') + JSONExtractUInt(recipe, 'imitation', 'numUpdates') AS num_updates,
    hex(sipHash128(name, toString(${RECIPE_OF_ANY_SEED}))) AS seeds_key,
    JSONExtractString(recipe, 'initFrom', 'source', 'runId') AS started_from
  FROM runs`;

const DETAILS = `
  SELECT run_id, recipe, metadata, notes, baselines, code_version
  FROM runs
  WHERE run_id IN {runIds:Array(String)}`;

/** Those that the view `runs` reads. */
const KINDS: ReadonlySet<string> = new Set<ControlEventKind>([
  ...(['RunStarted', 'RunEnded', 'TrainerClaimed', 'BaselinesMeasured', 'RunAnnotated'] as const),
]);

const MOST_DETAILS = 200;

/** Knows the runs of the store: those of now are kept and read again when their control events say something new. */
@Injectable()
export class RunFactsReader {
  private readonly facts: KeptOfAllRuns<RunFacts>;
  private readonly details: KeptOfAskedRuns<RunDetails>;

  constructor(
    private readonly store: StoreService,
    changes: ControlChanges,
  ) {
    const dependsOn = (kind: string) => KINDS.has(kind);
    this.facts = new KeptOfAllRuns({ changes, dependsOn, read: (runIds) => this.readFacts(runIds) });
    this.details = new KeptOfAskedRuns({
      ...{ changes, dependsOn, mostKept: MOST_DETAILS },
      read: (runIds) => this.readDetails(runIds),
    });
  }

  /** All runs, by id. The map is the kept one: later questions change it. */
  all(): Promise<ReadonlyMap<string, RunFacts>> {
    return this.facts.all();
  }

  /** These runs and perhaps others, by id; a run that has not started is missing. */
  of(runIds: readonly string[]): Promise<ReadonlyMap<string, RunFacts>> {
    return this.facts.of(runIds);
  }

  async detailsOf(runId: string): Promise<RunDetails | undefined> {
    return (await this.details.of([runId])).get(runId);
  }

  private async readFacts(runIds: readonly string[] | null): Promise<Map<string, RunFacts>> {
    const condition = runIds === null ? '' : 'WHERE run_id IN {runIds:Array(String)}';
    const rows = await this.store.queryRows<RunFacts>(`${FACTS} ${condition}`, { runIds: runIds ?? [] });
    return new Map(rows.map((row) => [row.runId, row]));
  }

  private async readDetails(runIds: readonly string[]): Promise<Map<string, RunDetails>> {
    const rows = await this.store.queryRows<RunDetails & { readonly runId: string }>(DETAILS, { runIds });
    return new Map(rows.map(({ runId, ...details }) => [runId, details]));
  }
}
