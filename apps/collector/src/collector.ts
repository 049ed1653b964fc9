import type { EnvironmentSpec } from '@retrace/environments';
import { episodeLimits, longestContext, playsGreedyBaseline, type Recipe } from '@retrace/config';
import { countTensors } from '@retrace/compute';
import { Generator, PolicySource, type CheckpointFiles, type PolicyText } from '@retrace/policy';
import { LogError, type EventLog } from '@retrace/log';
import { type PolicyPublished, type RunState, type Split } from '@retrace/trajectory';
import type { ControlTail, WarningLog } from '@retrace/log';
import { abandonUnfinished, trajectoryEnds } from './episode/abandon-unfinished.js';
import { maxAnswerCharacters } from './episode/environment-answer.js';
import { FailureStreak } from './episode/failure-streak.js';
import type { Actor } from './actors/actor.js';
import { CollectorError } from './collector-error.js';
import type { EpisodeLoops } from './loop/episode-loop.js';
import { nextTask, type CollectorTask } from './round/next-task.js';
import { PolicyActor } from './actors/policy-actor.js';
import type { PolicyEndpoint } from './actors/policy-endpoint.js';
import type { PlannedEpisode, RoundPlanOptions } from './round/round-plan.js';
import { RoundPlanner } from './round/round-planner.js';
import { claimOf, isShared, placesLeft, type Share } from './round/round-share.js';
import type { RoundMetrics } from './round/round-metrics.js';
import { playRound, type RoundSetting } from './round/play-round.js';
import type { TrajectoryWriter } from './writer/trajectory-writer.js';
import { scriptedAgent, ScriptedActor } from './actors/scripted-actor.js';

export interface CollectorOptions {
  readonly runId: string;
  readonly recipe: Recipe;
  /** The recipe's environment. */
  readonly environment: EnvironmentSpec;
  /** Which of the run's collectors this is. */
  readonly share: Share;
  readonly log: EventLog;
  readonly control: ControlTail;
  /** Told of each episode whose environment failed. */
  readonly warnings: Pick<WarningLog, 'raise'>;
  readonly writer: TrajectoryWriter;
  readonly checkpoints: CheckpointFiles;
  readonly text: PolicyText;
  /** How the recipe's episodes are played. */
  readonly loops: EpisodeLoops;
  /** Name of the engine that generates actions here, recorded with each step that no server generates. */
  readonly engine: string;
  /** The server that samples; null samples here. */
  readonly endpoint: PolicyEndpoint | null;
  readonly signal: AbortSignal;
}

/** Everything that decides a round, except the run. */
type RoundSpec = Omit<
  RoundPlanOptions,
  'runId' | 'seed' | 'spec' | 'firstOrdinal' | 'places' | 'maxCharacters'
>;

/**
 * Plays episodes for one run until it ends. Every decision follows from the control stream (`nextTask`), so a collector
 * that was killed goes on where the log says the run is. Several divide each round's groups among them (`round-share.ts`).
 */
export class Collector {
  private readonly spec: EnvironmentSpec;
  private readonly policies: PolicySource;
  private readonly planner = new RoundPlanner();
  private readonly failures: FailureStreak;
  private generator: Generator | null = null;

  constructor(private readonly options: CollectorOptions) {
    this.spec = options.environment;
    this.policies = new PolicySource(options.checkpoints);
    const { recipe, warnings } = options;
    const { name: environment } = this.spec;
    this.failures = new FailureStreak({ environment, ...episodeLimits(recipe), warnings });
  }

  /** Resolves when the run has ended or the signal aborts. */
  async run(): Promise<void> {
    try {
      await this.work();
    } catch (error) {
      // Asked to stop while the log is unavailable: the next start abandons open episodes.
      if (!(this.options.signal.aborted && error instanceof LogError && error.retriable)) throw error;
    }
  }

  private async work(): Promise<void> {
    const { log, control, writer, signal, recipe, share } = this.options;
    // Records that an earlier collector left in the spool must be in the log before its round is read.
    if (!(await writer.flush())) return;
    const ends = await trajectoryEnds(log);
    await control.catchUp();
    const abandoned = await abandonUnfinished(log, this.view, {
      share,
      ends,
      occurredAtUs: Date.now() * 1000,
    });
    if (abandoned) await control.append(this.options.runId, { kind: 'GroupsClosed', payload: abandoned });
    let waitedSince = performance.now();
    while (!signal.aborted) {
      await control.catchUp();
      const task = nextTask(this.view, recipe, share);
      if (task.kind === 'finished') return;
      if (task.kind === 'wait') {
        this.planAhead();
        await control.changed(signal);
        continue;
      }
      const idleSeconds = (performance.now() - waitedSince) / 1000;
      await this.perform(task, idleSeconds);
      waitedSince = performance.now();
    }
  }

  private get view(): RunState {
    return this.options.control.run(this.options.runId);
  }

  private trainingRound(round: number): RoundSpec {
    const { groupsPerRound, groupSize } = this.options.recipe.collection;
    return {
      split: 'train',
      agent: 'policy',
      trainable: true,
      round,
      numGroups: groupsPerRound,
      groupSize,
      greedyBaseline: playsGreedyBaseline(this.options.recipe),
      firstTask: round * groupsPerRound,
    };
  }

  /**
   * Plans the next round while the trainer computes, but not before it has its batch: planning would delay that. In a shared run
   * the places that are left in a round are known only when it starts.
   */
  private planAhead(): void {
    const { view } = this;
    if (view.updates.pendingPlans.length === 0 || isShared(view, this.options.share)) return;
    this.planner.planAhead(this.planOptions(this.trainingRound(view.groups.lastRound + 1)));
  }

  private async perform(task: CollectorTask, idleSeconds: number): Promise<void> {
    const { recipe } = this.options;
    switch (task.kind) {
      case 'rollOut': {
        const metrics = await this.playRound(this.trainingRound(task.round), idleSeconds);
        if (!metrics) return;
        const tensors = ['memory/collectorTensors', countTensors()] as const;
        await this.logMetrics('collector', task.round, [...metrics.entries(), tensors]);
        return;
      }
      case 'demonstrate': {
        const { numEpisodes, agent } = this.imitation();
        await this.playRound(
          {
            split: 'train',
            agent,
            trainable: false,
            round: 0,
            numGroups: numEpisodes,
            groupSize: 1,
            firstTask: 0,
          },
          idleSeconds,
        );
        return;
      }
      case 'validate':
        return this.evaluate('validation', recipe.evaluation.numValidationEpisodes, task.policyVersion);
      case 'test':
        return this.evaluate('test', recipe.evaluation.numTestEpisodes, task.policyVersion);
      case 'endRun':
        await this.options.control.append(this.options.runId, {
          kind: 'RunEnded',
          payload: { reason: 'finished', detail: '', numUpdates: this.view.updates.numUpdates },
        });
        return;
      case 'finished':
      case 'wait':
        return;
    }
  }

  private async evaluate(split: Split, numGroups: number, policyVersion: number): Promise<void> {
    const metrics = await this.playRound(
      {
        split,
        agent: 'policy',
        trainable: false,
        round: policyVersion,
        numGroups,
        groupSize: 1,
        firstTask: 0,
      },
      0,
    );
    if (!metrics) return;
    await this.logMetrics('evaluation', policyVersion, [
      [`${split}/success`, metrics.success],
      [`${split}/return`, metrics.meanReturn],
    ]);
  }

  private async playRound(plan: RoundSpec, idleSeconds: number): Promise<RoundMetrics | null> {
    const { recipe } = this.options;
    const episodes = await this.planEpisodes(plan);
    if (!episodes) return null;
    const actor =
      plan.agent === 'policy' ? await this.policyActor(plan.trainable) : this.scriptedActor(plan.agent);
    const policyVersion = plan.agent === 'policy' ? this.policies.version : -1;
    const swaps = plan.trainable && recipe.collection.maxStaleness > 0;
    return playRound(this.setting(), {
      episodes,
      actor,
      policyVersion,
      idleSeconds,
      beforeTurns: swaps ? () => this.swapIfNewer() : undefined,
    });
  }

  /** Plans a round and claims it where the run is shared; null when the claim came too late, so the next task must be decided again. */
  private async planEpisodes(plan: RoundSpec): Promise<PlannedEpisode[] | null> {
    const { runId, control, share } = this.options;
    const { view } = this;
    const { numGroups, trainable } = plan;
    const isClaimed = isShared(view, share);
    const places = isClaimed && trainable ? placesLeft(view, plan, numGroups, share) : undefined;
    const options = this.planOptions(plan, places);
    const episodes = this.planner.plan(options);
    if (!isClaimed) return episodes;
    const claim = claimOf(episodes, { share, numGroups, firstOrdinal: options.firstOrdinal });
    await control.append(runId, { kind: 'CollectorClaimed', payload: claim });
    await control.catchUp();
    return view.rounds.claimBy(share.index)?.groupIds[0] === claim.groupIds[0] ? episodes : null;
  }

  private planOptions(plan: RoundSpec, places?: readonly number[]): RoundPlanOptions {
    const { log, recipe, runId } = this.options;
    const maxCharacters = maxAnswerCharacters(log.maxEventBytes);
    const firstOrdinal = this.view.rounds.nextOrdinal;
    return { ...plan, runId, seed: recipe.seed, spec: this.spec, firstOrdinal, places, maxCharacters };
  }

  private async policyActor(sampled: boolean): Promise<Actor> {
    const { recipe, text, endpoint, loops } = this.options;
    const policy = this.currentPolicy();
    const model = await this.policies.load(policy);
    const maxTokens = longestContext(recipe);
    const sampling = {
      temperature: recipe.collection.temperature,
      topK: 0,
      topP: 1,
      greedy: !sampled,
      maxNewTokens: recipe.context.maxNewTokens,
    };
    const stops = { stopStrings: recipe.context.stopStrings, ownStopStrings: loops.stopStrings };
    if (endpoint) {
      await endpoint.serve(policy.policyVersion, model);
      return endpoint.actor({ maxTokens, sampling, ...stops });
    }
    this.generator ??= new Generator(model, {
      maxSlots: recipe.collection.concurrentEpisodes,
      maxTokens,
      maxNewTokens: recipe.context.maxNewTokens,
      decode: (tokenIds) => text.tokenizer.decode(tokenIds),
    });
    this.generator.setPolicyVersion(policy.policyVersion);
    return new PolicyActor({
      generator: this.generator,
      text,
      maxTokens,
      sampling,
      ...stops,
    });
  }

  private scriptedActor(name: string): Actor {
    const { text, recipe, loops } = this.options;
    return new ScriptedActor(scriptedAgent(this.spec, name), text, recipe.context.maxNewTokens, loops);
  }

  /** Hot swap: the weights change under the live episodes, whose tokens record the version that sampled them. */
  private async swapIfNewer(): Promise<void> {
    await this.options.control.catchUp();
    const policy = this.currentPolicy();
    if (policy.policyVersion === this.policies.version) return;
    const model = await this.policies.load(policy);
    this.generator?.setPolicyVersion(policy.policyVersion);
    await this.options.endpoint?.serve(policy.policyVersion, model);
  }

  private currentPolicy(): PolicyPublished {
    const policy = this.view.policies.latest;
    if (!policy) throw new CollectorError('NO_POLICY', 'no policy is published yet');
    return policy;
  }

  private imitation(): NonNullable<Recipe['imitation']> {
    const { imitation } = this.options.recipe;
    if (!imitation)
      throw new CollectorError('INVALID_SETTING', '"imitation" is required for a demonstration round');
    return imitation;
  }

  private setting(): RoundSetting {
    const { runId, log, control, writer, recipe, endpoint, text, signal, share } = this.options;
    const engine = endpoint?.description ?? this.options.engine;
    return {
      runId,
      shareIndex: share.index,
      log,
      control,
      writer,
      spec: this.spec,
      text,
      beginLoop: this.options.loops.begin,
      limits: episodeLimits(recipe),
      failures: this.failures,
      concurrentEpisodes: recipe.collection.concurrentEpisodes,
      engine,
      model: recipe.name,
      signal,
    };
  }

  private async logMetrics(
    source: 'collector' | 'evaluation',
    step: number,
    entries: readonly (readonly [string, number])[],
  ): Promise<void> {
    const { control, runId, share } = this.options;
    await control.append(runId, {
      kind: 'MetricsLogged',
      payload: {
        source,
        step,
        // Each collector knows only its own part.
        names: entries.map(([name]) => (share.index === 0 ? name : `share${share.index + 1}/${name}`)),
        values: Float64Array.from(entries, ([, value]) => value),
      },
    });
  }
}
