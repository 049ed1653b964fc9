import { join } from 'node:path';
import { Collector, openLoop, TrajectoryWriter } from '@retrace/collector';
import { recipeHash, type Recipe } from '@retrace/config';
import { openEnvironment, readEnvironment } from '@retrace/environment-sources';
import { CheckpointFiles, createTokenizer, plainPolicyText, type PolicyText } from '@retrace/policy';
import { RewardScorer } from '@retrace/scoring';
import {
  replayUpdate,
  TensorflowEngine,
  Trainer,
  type EpisodeSource,
  type ReplayResult,
} from '@retrace/trainer';
import { SINK_GROUP, type EventLog } from '@retrace/log';
import { type AnyEvent, type UpdateApplied, type WarningRaised } from '@retrace/trajectory';
import type { EpisodeTexts } from '@retrace/store';
import { decodeEvent } from '@retrace/trajectory/codec';
import { ControlTail, WarningLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { columnsFromEvents } from '@retrace/trajectory/testing';

interface WorkOptions {
  readonly untilUpdate?: number;
  /** Called with each warning that trainer and collector show. */
  readonly onWarning?: (line: string) => void;
}

/**
 * A run whose collector and trainer work in this process on an event log on disk. Episodes are read from the log itself, without a
 * store: this tests what is computed, committed, resumed and replayed.
 */
export class InProcessRun {
  private constructor(
    private readonly recipe: Recipe,
    private readonly log: EventLog,
    private readonly control: ControlTail,
    private readonly checkpoints: CheckpointFiles,
    private readonly text: PolicyText,
    private readonly runId: string,
  ) {}

  static async begin(
    directory: string,
    recipe: Recipe,
    logOptions: { readonly maxEventBytes?: number } = {},
  ): Promise<InProcessRun> {
    const log = await openLmdbLog({ path: join(directory, 'log'), createdBy: 'test', ...logOptions });
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
    await control.catchUp();
    const text = plainPolicyText(createTokenizer(recipe.context.tokenizer as 'word', spec.words ?? []));
    const checkpoints = new CheckpointFiles(join(directory, 'checkpoints'));
    return new InProcessRun(recipe, log, control, checkpoints, text, runId);
  }

  /** Works until the run has ended, or until `untilUpdate` updates are committed, which leaves the run as a kill between updates does. */
  async work({ untilUpdate = Infinity, onWarning }: WorkOptions = {}): Promise<void> {
    const { recipe, log, control, checkpoints, text, runId } = this;
    const stop = new AbortController();
    const common = { runId, recipe, log, control, checkpoints, signal: stop.signal };
    const { tokenizer } = text;
    const append = control.append.bind(control);
    control.append = async (ofRun, ...entries) => {
      await append(ofRun, ...entries);
      const isLast = entries.some(
        ({ kind, payload }) => kind === 'UpdateApplied' && payload.updateNumber >= untilUpdate,
      );
      if (isLast) stop.abort();
    };
    const warnings = new WarningLog({ control, runId, show: onWarning });
    const trainer = await Trainer.start({
      ...common,
      trainerId: crypto.randomUUID(),
      rewards: new RewardScorer(recipe.reward),
      openEngine: () =>
        TensorflowEngine.open({
          recipe,
          checkpoints,
          vocabSize: tokenizer.vocabSize,
          tokenizerHash: tokenizer.hash,
        }),
      reader: this.episodes,
      warnings,
    });
    const writer = await TrajectoryWriter.open(log, { signal: stop.signal });
    const environment = await openEnvironment(recipe.environment, recipe.tasks);
    const collector = new Collector({
      ...common,
      environment: environment.spec,
      share: { index: 0, count: 1 },
      writer,
      warnings,
      text,
      loops: await openLoop(recipe),
      engine: 'test',
      endpoint: null,
    });
    // Episodes are read from the log, so everything in the log counts as stored.
    const sinking = setInterval(() => {
      void this.commitStored();
    }, 5);
    try {
      await Promise.all([trainer.run(), collector.run()]);
    } finally {
      clearInterval(sinking);
      await warnings.flush();
      control.append = append;
      await writer.close();
      await environment.close();
    }
  }

  /** Returns the warnings of the run, in order. */
  async warnings(): Promise<WarningRaised[]> {
    const events = await this.read('control');
    return events.flatMap((event) => (event.kind === 'WarningRaised' ? [event.payload] : []));
  }

  /** Returns the committed updates, in order. */
  async updates(): Promise<UpdateApplied[]> {
    const events = await this.read('control');
    return events.flatMap((event) => (event.kind === 'UpdateApplied' ? [event.payload] : []));
  }

  async episodeEvents(): Promise<AnyEvent[]> {
    return this.read('trajectories');
  }

  /** Names of the checkpoint files that are there. */
  async checkpointNames(): Promise<string[]> {
    return (await this.checkpoints.list()).map(({ sha256 }) => sha256);
  }

  replay(updateNumber: number): Promise<ReplayResult> {
    const { log, checkpoints, runId } = this;
    const reader = { ...this.episodes, readAssignedRewards: () => Promise.resolve([]) };
    return replayUpdate({ log, checkpoints, runId, updateNumber, reader });
  }

  async close(): Promise<void> {
    this.control.close();
    await this.log.close();
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

  private async commitStored(): Promise<void> {
    const end = await this.log.endOffset('trajectories', 0);
    await this.log.commitCursor(SINK_GROUP, 'trajectories', 0, end);
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
      readEpisodes: async (_runId, episodeIds) => columnsFromEvents(episodeIds, await byEpisode()),
      readEpisodeTexts: async (_runId, episodeIds) => {
        const events = await byEpisode();
        return episodeIds.map((episodeId) => textsOf(events.get(episodeId) ?? []));
      },
    };
  }
}

function textsOf(events: readonly AnyEvent[]): EpisodeTexts {
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
