import { join } from 'node:path';
import { Collector, openLoop, TrajectoryWriter, Validator } from '@retrace/collector';
import {
  needsCollector,
  needsValidator,
  recipeHash,
  type DataContentsRecipe,
  type EngineRecipe,
  type Recipe,
} from '@retrace/config';
import { openEnvironment, readEnvironment } from '@retrace/environment-sources';
import {
  CheckpointFiles,
  createTokenizer,
  plainPolicyText,
  type OfferedPolicy,
  type OfferFile,
  type PolicyText,
  type WatchedOffers,
} from '@retrace/policy';
import { RewardScorer } from '@retrace/rewards/scoring';
import {
  replayRun,
  replayUpdate,
  whatIf,
  openEndpointTeacher,
  openEngine,
  recipeModelConfig,
  Trainer,
  type EpisodeSource,
  type TrainerOptions,
  type ReplayedRun,
  type FactsSource,
  type ReplayResult,
  type ReplaySource,
} from '@retrace/trainer';
import type { EventLog } from '@retrace/log';
import {
  ControlFold,
  type AnyEvent,
  type BatchPlanned,
  type RunState,
  type UpdateApplied,
  type UpdateTokensTraced,
  type UpdateTraced,
  type WarningRaised,
} from '@retrace/trajectory';
import type { EpisodeTexts, SamplingFacts } from '@retrace/store';
import { decodeEvent, type KnownEvents } from '@retrace/trajectory/codec';
import { ControlTail, WarningLog, type ControlEntry } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { columnsFromEvents } from '@retrace/trajectory/testing';

interface BeginOptions {
  readonly maxEventBytes?: number;
  /** By default in the run's directory. */
  readonly checkpoints?: CheckpointFiles;
}

interface OpenedRun {
  readonly recipe: Recipe;
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly checkpoints: CheckpointFiles;
  readonly runId: string;
}

interface WorkOptions {
  readonly untilUpdate?: number;
  /** Called with each warning that trainer and collector show. */
  readonly onWarning?: (line: string) => void;
  /** Which of the roles that the recipe needs work here (default: all); the others are elsewhere, or wait. */
  readonly roles?: readonly RunRole[];
  /** Where trainer and collector are as in one process: each is in a call of its own, with its own view of the log. */
  readonly shared?: { readonly offered: OfferedPolicy; readonly known: KnownEvents };
  /** Where they are as in two: in a call of the trainer … */
  readonly offerFile?: OfferFile;
  /** … and in one of the collector. */
  readonly watched?: { readonly offered: WatchedOffers; readonly known: KnownEvents };
  /** Where the collector keeps events that the log does not take (default: in memory only). */
  readonly spool?: { readonly directory: string; readonly maxBytes: number };
  /** Ends the work, as a process ends that is asked to. */
  readonly signal?: AbortSignal;
  /** Called at each point that the trainer comes to: what it throws ends the trainer, and while it waits the trainer hangs. */
  readonly onPoint?: (point: UpdatePoint, updateNumber: number) => void | Promise<void>;
}

interface RefusedEvent {
  readonly event: AnyEvent;
  readonly reason: string;
}

type RunRole = 'trainer' | 'collector' | 'validator';

/** A point of an update: before and after its plan is in the log, and before (its files are written) and after its commit is. */
export type UpdatePoint = 'planning' | 'planned' | 'filesWritten' | 'committed';

/**
 * A run whose collector, validator and trainer work in this process on an event log on disk. Episodes are read from the log itself, without a
 * store: this tests what is computed, committed, resumed and replayed.
 */
export class InProcessRun {
  /** Bytes that the last collector left in its spool. */
  numSpooledBytes = 0;
  private readonly closing: (() => Promise<void>)[] = [];

  private constructor(
    private readonly recipe: Recipe,
    private readonly log: EventLog,
    private readonly control: ControlTail,
    private readonly checkpoints: CheckpointFiles,
    readonly text: PolicyText,
    private readonly runId: string,
  ) {}

  static async begin(
    directory: string,
    recipe: Recipe,
    { checkpoints = new CheckpointFiles(join(directory, 'checkpoints')), ...logOptions }: BeginOptions = {},
  ): Promise<InProcessRun> {
    const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'test', ...logOptions });
    return InProcessRun.start(recipe, log, checkpoints);
  }

  /** Opens a run that was begun in this directory and closed. */
  static async reopen(
    directory: string,
    recipe: Recipe,
    runId: string,
    checkpoints = new CheckpointFiles(join(directory, 'checkpoints')),
  ): Promise<InProcessRun> {
    const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'test' });
    return InProcessRun.open({ recipe, log, checkpoints, control: new ControlTail(log), runId });
  }

  private static async open({ recipe, log, control, checkpoints, runId }: OpenedRun): Promise<InProcessRun> {
    await control.catchUp();
    const spec = await readEnvironment(recipe.environment);
    const text = plainPolicyText(createTokenizer(recipe.context.tokenizer as 'word', spec.words ?? []));
    return new InProcessRun(recipe, log, control, checkpoints, text, runId);
  }

  /**
   * Opens this run as another process does, with its own view of the log, which closes with this one.
   *
   * @param through what the log is seen through, as one that fails
   */
  openAgain(through: (log: EventLog) => EventLog = (log) => log): Promise<InProcessRun> {
    const { recipe, checkpoints, runId } = this;
    const log = through(this.log);
    return InProcessRun.open({ recipe, log, checkpoints, control: new ControlTail(log), runId });
  }

  /** Begins another run on the same log; close only the last one. */
  async beginAnother(recipe: Recipe): Promise<InProcessRun> {
    this.control.close();
    return InProcessRun.start(recipe, this.log, this.checkpoints);
  }

  private static async start(
    recipe: Recipe,
    log: EventLog,
    checkpoints: CheckpointFiles,
  ): Promise<InProcessRun> {
    const control = new ControlTail(log);
    const runId = crypto.randomUUID();
    const spec = await readEnvironment(recipe.environment);
    await control.append(runId, {
      kind: 'RunStarted',
      payload: {
        name: recipe.name,
        runKind: 'trained',
        recipe: JSON.parse(JSON.stringify(recipe)) as never,
        recipeHash: recipeHash(recipe),
        seed: recipe.seed,
        environment: spec.name,
        codeVersion: 'test',
        baselines: [],
        tags: [],
        metadata: null,
      },
    });
    return InProcessRun.open({ recipe, log, control, checkpoints, runId });
  }

  /** Works until the run has ended, or until `untilUpdate` updates are committed, which leaves the run as a kill between updates does. */
  async work({
    untilUpdate = Infinity,
    onWarning,
    onPoint,
    roles = ['trainer', 'collector', 'validator'],
    shared,
    offerFile,
    watched,
    spool,
    signal = new AbortController().signal,
  }: WorkOptions = {}): Promise<void> {
    const { recipe, log, control, checkpoints, text, runId } = this;
    const stop = new AbortController();
    const stopped = AbortSignal.any([stop.signal, signal]);
    const common = { runId, recipe, log, control, checkpoints, offerFile, ...shared, signal: stopped };
    const append = control.append.bind(control);
    control.append = async (ofRun, ...entries) => {
      const points = listPoints(entries);
      if (points) await onPoint?.(points.before, points.updateNumber);
      await append(ofRun, ...entries);
      if (points) await onPoint?.(points.after, points.updateNumber);
      const isLast = entries.some(
        ({ kind, payload }) => kind === 'UpdateApplied' && payload.updateNumber >= untilUpdate,
      );
      if (isLast) stop.abort();
    };
    const warnings = new WarningLog({ control, runId, show: onWarning });
    const trainer = roles.includes('trainer') ? await this.startTrainer(common, warnings) : null;
    const { known } = shared ?? watched ?? {};
    const writer = await TrajectoryWriter.open(log, { signal: stopped, known, spool });
    const environment = await openEnvironment(recipe.environment, recipe.tasks);
    const played = {
      ...{ ...common, ...watched, writer, warnings, text },
      environment: environment.spec,
      loops: await openLoop(recipe),
      engine: 'test',
    };
    const collector = new Collector({ ...played, share: { index: 0, count: 1 }, endpoint: null });
    const validator = new Validator(played);
    const working = [
      ...(trainer ? [trainer.run()] : []),
      ...(roles.includes('collector') && needsCollector(recipe) ? [collector.run()] : []),
      ...(roles.includes('validator') && needsValidator(recipe) ? [validator.run()] : []),
    ];
    try {
      await Promise.all(working);
    } finally {
      stop.abort();
      await Promise.allSettled(working);
      await trainer?.close();
      for (const close of this.closing.splice(0)) await close();
      await warnings.flush();
      control.append = append;
      this.numSpooledBytes = await writer.close();
      await environment.close();
    }
  }

  private async startTrainer(
    common: Pick<
      TrainerOptions,
      'runId' | 'recipe' | 'log' | 'control' | 'checkpoints' | 'signal' | 'offered' | 'offerFile' | 'known'
    >,
    warnings: WarningLog,
  ): Promise<Trainer> {
    const { recipe, checkpoints } = common;
    const { tokenizer } = this.text;
    const { vocabSize, hash: tokenizerHash } = tokenizer;
    const shape = await recipeModelConfig(recipe, vocabSize);
    const onNotice = (message: string) => void warnings.raise({ source: 'trainer', message });
    const teacher = await openEndpointTeacher(recipe, {
      ...{ tokenizer, shape, variables: {}, onNotice, signal: common.signal },
    });
    this.closing.push(async () => teacher?.close());
    return Trainer.start({
      ...common,
      trainerId: crypto.randomUUID(),
      rewards: new RewardScorer(recipe.reward),
      teacher,
      shape,
      openEngine: () => openEngine({ recipe, checkpoints, vocabSize, tokenizerHash }),
      reader: { ...this.source.reader, ...this.facts },
      hasStore: false,
      warnings,
    });
  }

  /** Returns the warnings of the run, in order. */
  async warnings(): Promise<WarningRaised[]> {
    const events = await this.read('control');
    return events.flatMap((event) => (event.kind === 'WarningRaised' ? [event.payload] : []));
  }

  /** Returns the commits in the log, in order: also those of a trainer that no longer held the run. */
  async updates(): Promise<UpdateApplied[]> {
    const events = await this.read('control');
    return events.flatMap((event) =>
      event.kind === 'UpdateApplied' && event.runId === this.runId ? [event.payload] : [],
    );
  }

  /** Returns the run as all control events tell it, and those of the run that changed nothing. */
  async folded(): Promise<{ readonly run: RunState; readonly refused: readonly RefusedEvent[] }> {
    const fold = new ControlFold();
    const refused = (await this.read('control')).flatMap((event, offset) => {
      const applied = fold.apply(event, offset);
      return applied.applied || event.runId !== this.runId ? [] : [{ event, reason: applied.reason }];
    });
    const run = fold.run(this.runId);
    if (run === undefined) throw new Error(`run ${this.runId} is not in the log`);
    return { run, refused };
  }

  /** Returns the plans, in order. */
  async plans(): Promise<BatchPlanned[]> {
    const events = await this.read('control');
    return events.flatMap((event) =>
      event.kind === 'BatchPlanned' && event.runId === this.runId ? [event.payload] : [],
    );
  }

  /** Returns all events of the run in stream `control`, in order. */
  async controlEvents(): Promise<AnyEvent[]> {
    return (await this.read('control')).filter((event) => event.runId === this.runId);
  }

  /** Lists the episodes that this run collected for training, or its demonstrations, as a data set in the log. */
  async trainingSet(name: string, of: 'policy' | 'demonstrations' = 'policy'): Promise<DataContentsRecipe> {
    const closed = (await this.controlEvents()).flatMap((event) => {
      if (event.kind !== 'GroupsClosed' || event.payload.split !== 'train') return [];
      return event.payload.trainable === (of === 'policy') ? [event.payload] : [];
    });
    const episodeIds = closed.flatMap((groups) => groups.episodeIds);
    const contentHash = 'ab'.repeat(32);
    const payload = { name, contentHash, ofRunId: this.runId, episodeIds };
    await this.control.append('', { kind: 'DatasetEpisodesListed', payload });
    const numGroups = closed.flatMap((groups) => groups.groupIds).length;
    return { dataset: name, contentHash, numEpisodes: episodeIds.length, numGroups };
  }

  get id(): string {
    return this.runId;
  }

  async episodeEvents(): Promise<AnyEvent[]> {
    return this.read('trajectories');
  }

  /** Names of the checkpoint files that are there. */
  async checkpointNames(): Promise<string[]> {
    return (await this.checkpoints.list()).map(({ sha256 }) => sha256);
  }

  replay(updateNumber: number, engine: Partial<EngineRecipe> = {}): Promise<ReplayResult> {
    return replayUpdate({ ...this.source, engine, updateNumber });
  }

  replayAll(engine: Partial<EngineRecipe> = {}): Promise<ReplayedRun> {
    return replayRun({ ...this.source, engine });
  }

  whatIf(updates: { readonly from: number; readonly to?: number }, ...assignments: string[]) {
    const { from, to = from } = updates;
    return whatIf({ ...this.source, from, to, assignments, rewards: null, withTokens: true });
  }

  /** Returns the inputs of the updates, in order. */
  async traces(): Promise<UpdateTraced[]> {
    const events = await this.read('control');
    return events.flatMap((event) => (event.kind === 'UpdateTraced' ? [event.payload] : []));
  }

  /** Returns what the updates read of each token, in order. */
  async tokenTraces(): Promise<UpdateTokensTraced[]> {
    const events = await this.read('control');
    return events.flatMap((event) => (event.kind === 'UpdateTokensTraced' ? [event.payload] : []));
  }

  async close(): Promise<void> {
    this.control.close();
    await this.log.close();
  }

  /** Where the updates of this run were recorded. */
  get source(): ReplaySource {
    const { log, checkpoints, runId } = this;
    const reader = { ...this.episodes, readAssignedRewards: () => Promise.resolve([]) };
    return { log, checkpoints, runId, reader };
  }

  private async read(stream: 'control' | 'trajectories'): Promise<AnyEvent[]> {
    const events: AnyEvent[] = [];
    for (let offset = 0; ;) {
      const records = await this.log.read(stream, 0, offset);
      if (records.length === 0) return events;
      for (const { bytes } of records) {
        const decoded = decodeEvent(bytes);
        if (decoded.ok) events.push(decoded.event);
      }
      offset = records[records.length - 1].offset + 1;
    }
  }

  private get facts(): FactsSource {
    const read = async (chosen: readonly string[]): Promise<SamplingFacts> => {
      const wanted = new Set(chosen);
      const events = (await this.read('trajectories')).filter(({ episodeId }) => wanted.has(episodeId));
      const started = events.flatMap((event) => (event.kind === 'EpisodeStarted' ? [event] : []));
      const ended = new Map(
        events.flatMap((event) =>
          event.kind === 'EpisodeEnded' ? [[event.episodeId, event.payload] as const] : [],
        ),
      );
      const families = [...new Set(started.map(({ payload }) => JSON.stringify(payload.task)))];
      const order = started
        .map((event, e) => ({ event, e }))
        .sort((a, b) => {
          const [one, other] = [a.event.payload, b.event.payload];
          return one.groupId < other.groupId ? -1 : one.groupId > other.groupId ? 1 : a.e - b.e;
        })
        .map(({ event }) => event);
      const numbers = (value: (event: (typeof order)[number]) => number) => order.map(value);
      return {
        runIds: order.map(({ runId }) => runId),
        groupIds: order.map(({ payload }) => payload.groupId),
        episodeIds: order.map(({ episodeId }) => episodeId),
        numSteps: Int32Array.from(numbers(({ episodeId }) => ended.get(episodeId)?.numSteps ?? 0)),
        successes: Int8Array.from(numbers(({ episodeId }) => Number(ended.get(episodeId)?.success ?? -1))),
        families: Float64Array.from(numbers(({ payload }) => families.indexOf(JSON.stringify(payload.task)))),
        priorities: null,
      };
    };
    return {
      readEpisodesFacts: (_runId, episodeIds) => read(episodeIds),
      readDatasetFacts: async (dataset) => {
        const events = await this.read('control');
        return read(
          events.flatMap((event) =>
            event.kind === 'DatasetEpisodesListed' && event.payload.name === dataset
              ? event.payload.episodeIds
              : [],
          ),
        );
      },
    };
  }

  private get episodes(): EpisodeSource {
    const byEpisode = async () => {
      const events = new Map<string, AnyEvent[]>();
      for (const event of await this.read('trajectories')) {
        const known = events.get(event.episodeId);
        if (known) known.push(event);
        else events.set(event.episodeId, [event]);
      }
      return events;
    };
    return {
      findLost: () => Promise.resolve([]),
      untilCaughtUp: () => Promise.resolve(true),
      readEpisodes: async (_runId, episodeIds) => columnsFromEvents(episodeIds, await byEpisode()),
      readEpisodeTexts: async (_runId, episodeIds) => {
        const events = await byEpisode();
        return episodeIds.map((episodeId) => listTexts(events.get(episodeId) ?? []));
      },
    };
  }
}

/** The points before and after an append of a plan or of a commit. */
function listPoints(
  entries: readonly ControlEntry[],
): { readonly before: UpdatePoint; readonly after: UpdatePoint; readonly updateNumber: number } | null {
  for (const { kind, payload } of entries) {
    if (kind !== 'BatchPlanned' && kind !== 'UpdateApplied') continue;
    const { updateNumber } = payload;
    return kind === 'BatchPlanned'
      ? { before: 'planning', after: 'planned', updateNumber }
      : { before: 'filesWritten', after: 'committed', updateNumber };
  }
  return null;
}

function listTexts(events: readonly AnyEvent[]): EpisodeTexts {
  const [started] = events.flatMap((event) => (event.kind === 'EpisodeStarted' ? [event.payload] : []));
  const [ended] = events.flatMap((event) => (event.kind === 'EpisodeEnded' ? [event.payload] : []));
  return {
    environment: started.environment,
    task: started.task,
    finalObservation: ended.finalObservation,
    steps: events.flatMap((event) =>
      event.kind === 'StepRecorded'
        ? [{ ...event.payload, rewardValues: [...event.payload.rewardValues] }]
        : [],
    ),
  };
}
