import type { EnvironmentSpec } from '@retrace/environments';
import { episodeLimits, playsGreedyBaseline, type Recipe } from '@retrace/config';
import { countTensors } from '@retrace/compute';
import type { PolicyPublished, RunState } from '@retrace/trajectory';
import type { PolicyOffers } from '@retrace/policy';
import { BlockReports, collectorCursor, type ControlEntry } from '@retrace/log';
import { maxAnswerCharacters } from './environment/environment-answer.js';
import { FailureStreak } from './episode/failure-streak.js';
import type { Actor } from './turn/actor.js';
import { CollectorError } from './collector-error.js';
import { nextTask, roundAfterUpdate, type CollectorTask } from './round/next-task.js';
import { computeQuota } from './round/own-quota.js';
import type { PolicyEndpoint } from './actors/policy-endpoint.js';
import type { PlannedEpisode } from './episode/planned-episode.js';
import type { RoundPlanOptions } from './round/round-plan.js';
import { RoundPlanner } from './round/round-planner.js';
import { makeClaim, isShared, placesLeft, type Share } from './round/round-share.js';
import type { RoundMetrics } from './round/round-metrics.js';
import { PolicyActors, type Decoding } from './round/policy-actors.js';
import { playRound, type RoundSetting } from './round/play-round.js';
import { playInOrder, type Rollouts } from './rollouts.js';
import { scriptedAgent, ScriptedActor } from './actors/scripted-actor.js';

export interface CollectorOptions extends Rollouts {
  /** Which of the run's collectors this is. */
  readonly share: Share;
  /** The server that samples; null samples here. */
  readonly endpoint: PolicyEndpoint | null;
  /** Where the trainer offers each new policy before it publishes it. */
  readonly offered?: PolicyOffers;
  /** Called for every episode that ends, in whichever round. */
  readonly onEpisodeEnded?: RoundSetting['onEpisodeEnded'];
}

/** Everything that decides a round, except the run. */
type RoundSpec = Omit<
  RoundPlanOptions,
  'runId' | 'seed' | 'spec' | 'firstOrdinal' | 'places' | 'maxCharacters'
>;

/** The actor of a round that begins before its policy is published. */
interface EarlyRound {
  readonly actor: Actor;
  readonly policyVersion: number;
  readonly dropped: AbortSignal;
}

interface PlayedWith {
  readonly idleSeconds: number;
  readonly metricsOf?: (metrics: RoundMetrics) => readonly ControlEntry[];
  readonly early?: EarlyRound;
}

/**
 * Plays episodes for one run until it ends. Every decision follows from the control stream (`nextTask`), so a collector
 * that was killed goes on where the log says the run is. Several divide each round's groups among them (`round-share.ts`).
 */
export class Collector {
  private readonly spec: EnvironmentSpec;
  private readonly policies: PolicyActors;
  private readonly planner = new RoundPlanner();
  private readonly failures: FailureStreak;
  private readonly blocks: BlockReports;

  constructor(private readonly options: CollectorOptions) {
    this.spec = options.environment;
    this.policies = new PolicyActors(options);
    const { recipe, warnings } = options;
    const { name: environment } = this.spec;
    this.blocks = new BlockReports(options);
    this.failures = new FailureStreak({ environment, ...episodeLimits(recipe), warnings });
  }

  /** Resolves when the run has ended or the signal aborts. */
  run(): Promise<void> {
    return playInOrder(this.options, this.options.share, () => this.work());
  }

  private async work(): Promise<void> {
    const { control, signal, recipe, share } = this.options;
    let waitedSince = performance.now();
    while (!signal.aborted) {
      await control.catchUp();
      const task = nextTask(this.view, recipe, share);
      if (task.kind === 'finished') return;
      if (task.kind === 'wait') {
        if (share.index === 0) await this.blocks.report(task.block ?? null);
        this.planAhead();
        const early = this.offeredRound();
        if (early === null) {
          await control.changed(this.options.offered?.nextOffer(signal) ?? signal);
          continue;
        }
        await this.playEarly(early, (performance.now() - waitedSince) / 1000);
      } else {
        await this.perform(task, (performance.now() - waitedSince) / 1000);
      }
      waitedSince = performance.now();
    }
  }

  private get view(): RunState {
    return this.options.control.run(this.options.runId);
  }

  private trainingRound(round: number): RoundSpec {
    const { recipe } = this.options;
    const fixed = { split: 'train', agent: 'policy', trainable: true } as const;
    return {
      ...fixed,
      ...computeQuota(recipe, round),
      round,
      groupSize: recipe.collection.groupSize,
      greedyBaseline: playsGreedyBaseline(recipe),
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

  /** The round that an offered policy will play; null where it is not clear yet that it will, or which. */
  private offeredRound(): number | null {
    const { offered, recipe, share } = this.options;
    const { latest } = this.view.policies;
    if (!offered || !latest || offered.version !== latest.policyVersion + 1) return null;
    return roundAfterUpdate(this.view, recipe, share);
  }

  /**
   * Plays a round with the offered policy while the trainer commits its update. Nothing of it is appended before the policy is published,
   * so a trainer that fails until then leaves no trace of the round.
   */
  private async playEarly(round: number, idleSeconds: number): Promise<void> {
    const { offered, writer, recipe } = this.options;
    const policyVersion = offered?.version ?? -1;
    const decoding = trainingDecoding(recipe);
    const actor = await this.policies.openOffered(policyVersion, decoding);
    if (actor === null) return;
    const dropped = writer.hold(this.untilPublished(policyVersion, round));
    await this.playTrainingRound(round, idleSeconds, { actor, policyVersion, dropped });
  }

  /** Waits until a policy is published; with false where its round is not the next one, or where it is not the one that was offered. */
  private async untilPublished(policyVersion: number, round: number): Promise<boolean> {
    const { control, signal, recipe, share } = this.options;
    while (!signal.aborted && this.currentPolicy().policyVersion < policyVersion && !this.view.ended)
      await control.changed(signal);
    const task = nextTask(this.view, recipe, share);
    const { latest } = this.view.policies;
    const isSame = latest?.policyVersion === policyVersion && this.policies.has(latest);
    return task.kind === 'rollOut' && task.round === round && isSame;
  }

  private playTrainingRound(round: number, idleSeconds: number, early?: EarlyRound): Promise<void> {
    const metricsOf = (metrics: RoundMetrics) => {
      const tensors = ['memory/collectorTensors', countTensors()] as const;
      return [this.metricsEntry(round, [...metrics.entries(), tensors])];
    };
    return this.playRound(this.trainingRound(round), { idleSeconds, metricsOf, early });
  }

  private async perform(task: CollectorTask, idleSeconds: number): Promise<void> {
    switch (task.kind) {
      case 'rollOut': {
        await this.playTrainingRound(task.round, idleSeconds);
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
          { idleSeconds },
        );
        return;
      }
      case 'finished':
      case 'wait':
        return;
    }
  }

  /** Plays a round and closes its groups; events of its metrics go into the same append. */
  private async playRound(plan: RoundSpec, { idleSeconds, metricsOf, early }: PlayedWith): Promise<void> {
    const { recipe } = this.options;
    const episodes = await this.planEpisodes(plan);
    if (!episodes) return;
    const swaps = plan.trainable && recipe.collection.maxStaleness > 0;
    await playRound(this.setting(), {
      episodes,
      ...(early ?? (await this.openActor(plan.agent))),
      idleSeconds,
      beforeTurns: swaps ? () => this.swapIfNewer() : undefined,
      told: ({ metrics }) => metricsOf?.(metrics) ?? [],
    });
  }

  private async openActor(agent: string): Promise<Pick<EarlyRound, 'actor' | 'policyVersion'>> {
    if (agent !== 'policy') return { actor: this.scriptedActor(agent), policyVersion: -1 };
    const decoding = trainingDecoding(this.options.recipe);
    const actor = await this.policies.open(this.currentPolicy(), decoding);
    return { actor, policyVersion: this.policies.version };
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
    const claim = makeClaim(episodes, { share, numGroups, firstOrdinal: options.firstOrdinal });
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

  private scriptedActor(name: string): Actor {
    const { text, recipe, loops } = this.options;
    return new ScriptedActor(scriptedAgent(this.spec, name), text, recipe.context.maxNewTokens, loops);
  }

  private async swapIfNewer(): Promise<void> {
    await this.options.control.catchUp();
    await this.policies.swap(this.currentPolicy());
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
    const { runId, log, control, writer, recipe, endpoint, text, signal, share, onEpisodeEnded } =
      this.options;
    const engine = endpoint?.description ?? this.options.engine;
    return {
      runId,
      cursor: collectorCursor(runId, share.index),
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
      onEpisodeEnded,
    };
  }

  private metricsEntry(step: number, entries: readonly (readonly [string, number])[]): ControlEntry {
    const { share } = this.options;
    // Each collector knows only its own part.
    const names = entries.map(([name]) => (share.index === 0 ? name : `share${share.index + 1}/${name}`));
    const values = Float64Array.from(entries, ([, value]) => value);
    return { kind: 'MetricsLogged', payload: { source: 'collector', step, names, values } };
  }
}

/** How training episodes are sampled. */
function trainingDecoding({ collection: { temperature, topK, topP } }: Pick<Recipe, 'collection'>): Decoding {
  return { greedy: false, temperature, topK, topP };
}
