import { Injectable } from '@nestjs/common';
import { KL_FIELDS } from '@retrace/config';
import type { ControlEventKind } from '@retrace/trajectory';
import { ControlChanges, type DependsOn } from '../store/control-changes.js';
import { KeptOfAllRuns } from '../store/kept-of-all-runs.js';
import { KeptOfAskedRuns } from '../store/kept-of-asked-runs.js';
import { asksAboutNow } from '../store/asked-moment.js';
import { isKeptRun } from '../store/kept-run.js';
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
  /** The same in runs of one name whose recipes differ only by seed, engine and processes; null where it was not read. */
  readonly seedsKey: string | null;
  /** Run of the policy that it started from; empty for none, null where it was not read. */
  readonly startedFrom: string | null;
}

/** Columns that only the page of a run shows; texts are JSON, but for the notes. */
export interface RunDetails {
  readonly recipe: string;
  readonly metadata: string | null;
  readonly notes: string;
  readonly baselines: string;
  readonly codeVersion: string;
}

const namesIn = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ');
/** Fields of `loss` and `advantage` with what every recipe had there while the KL was six fields of `loss`; one of today may leave them out. */
const FILLED_IN = `('loss.kl.coefficient', '0'), ('loss.kl.estimator', '"k3"'), ('advantage.shuffle', 'false')`;

/**
 * A recipe but for its seed, and for the means that no recipe's hash has (`recipeHash` of `@retrace/config`): its sections, and in their place the fields of
 * `loss` and `advantage`, so that one that was recorded before the KL was an object is as one of today.
 */
const RECIPE_OF_ANY_SEED = `arraySort(arrayConcat(
    arrayFilter(field -> field.1 NOT IN ('seed', 'engine', 'process', 'loss', 'advantage'), JSONExtractKeysAndValuesRaw(recipe)),
    arrayFilter(field -> field.2 != 'null' AND field.1 != 'loss.kl' AND field NOT IN (${FILLED_IN}), arrayConcat(
      arrayMap(field -> ('advantage.' || field.1, field.2), JSONExtractKeysAndValuesRaw(recipe, 'advantage')),
      arrayMap(field -> ('loss.kl.' || field.1, field.2), JSONExtractKeysAndValuesRaw(recipe, 'loss', 'kl')),
      arrayMap(field -> ('loss.' || transform(field.1, [${namesIn(Object.keys(KL_FIELDS))}],
        [${namesIn(Object.values(KL_FIELDS).map((name) => `kl.${name}`))}], field.1), field.2), JSONExtractKeysAndValuesRaw(recipe, 'loss'))))))`;

/** Read from each whole recipe, which takes long in a store of many runs. */
const ORIGINS = `hex(sipHash128(name, toString(${RECIPE_OF_ANY_SEED}))) AS seeds_key,
    JSONExtractString(recipe, 'initFrom', 'source', 'runId') AS started_from`;
const NO_ORIGINS = 'NULL AS seeds_key, NULL AS started_from';

const factsOf = (origins: string, ofRuns: string): string => `
  SELECT run_id, name, kind, tags, starred, archived, environment, seed, recipe_hash, started_at, ended_at, end_reason,
    JSONExtractUInt(recipe, 'numUpdates') + JSONExtractUInt(recipe, 'imitation', 'numUpdates') AS num_updates,
    ${origins}
  FROM runs
  WHERE ${isKeptRun(ofRuns)} ${ofRuns}`;

const OF_THESE = 'AND run_id IN {runIds:Array(String)}';

const DETAILS = `
  SELECT run_id, recipe, metadata, notes, baselines, code_version
  FROM runs
  WHERE ${isKeptRun(OF_THESE)} ${OF_THESE}`;

/** Those that the view `runs` reads. */
const KINDS: ReadonlySet<string> = new Set<ControlEventKind>([
  ...(['RunStarted', 'RunEnded', 'TrainerClaimed', 'BaselinesMeasured', 'RunAnnotated'] as const),
]);

/** Characters of the details that are kept. */
const MAX_DETAILS = 16_000_000;

/** Knows the runs of the store: those of now are kept and read again when their control events say something new. */
@Injectable()
export class RunFactsReader {
  private readonly facts: KeptOfAllRuns<RunFacts>;
  private readonly details: KeptOfAskedRuns<RunDetails>;

  constructor(
    private readonly store: StoreService,
    changes: ControlChanges,
  ) {
    const dependsOn: DependsOn = ({ kind }) => KINDS.has(kind);
    this.facts = new KeptOfAllRuns({ changes, dependsOn, read: (runIds) => this.readFacts(runIds) });
    this.details = new KeptOfAskedRuns({
      ...{ changes, dependsOn, maxSize: MAX_DETAILS, sizeOf: sizeOfDetails },
      read: (runIds) => this.readDetails(runIds),
    });
  }

  /**
   * All runs, by id. The map is the kept one: later questions change it.
   *
   * @param origins whether `seedsKey` and `startedFrom` are needed: at an earlier moment they are read only then
   */
  all({ origins = false }: { readonly origins?: boolean } = {}): Promise<ReadonlyMap<string, RunFacts>> {
    return origins || asksAboutNow() ? this.facts.all() : this.readFacts(null, NO_ORIGINS);
  }

  /** These runs and perhaps others, by id; a run that has not started is missing. */
  of(runIds: readonly string[]): Promise<ReadonlyMap<string, RunFacts>> {
    return asksAboutNow() ? this.facts.of(runIds) : this.readFacts(runIds, NO_ORIGINS);
  }

  async detailsOf(runId: string): Promise<RunDetails | undefined> {
    return (await this.details.of([runId])).get(runId);
  }

  private async readFacts(
    runIds: readonly string[] | null,
    origins: string = ORIGINS,
  ): Promise<Map<string, RunFacts>> {
    const sql = factsOf(origins, runIds === null ? '' : OF_THESE);
    const rows = await this.store.queryRows<RunFacts>(sql, { runIds: runIds ?? [] });
    return new Map(rows.map((row) => [row.runId, row]));
  }

  private async readDetails(runIds: readonly string[]): Promise<Map<string, RunDetails>> {
    const rows = await this.store.queryRows<RunDetails & { readonly runId: string }>(DETAILS, { runIds });
    return new Map(rows.map(({ runId, ...details }) => [runId, details]));
  }
}

function sizeOfDetails({ recipe, metadata, notes, baselines }: RunDetails): number {
  return recipe.length + (metadata?.length ?? 0) + notes.length + baselines.length + 1;
}
