import { createSlots, openLoop, planRound, playEpisodes, PolicyActor } from '@retrace/collector';
import { episodeLimits, longestContext, playsGreedyBaseline } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { createTokenizer, Generator, plainPolicyText } from '@retrace/policy';
import { RewardScorer } from '@retrace/rewards/scoring';
import { computeUpdate, TensorflowEngine, readsTexts } from '@retrace/trainer';
// Not by '@retrace/trajectory/testing', which loads fast-check: its tables would burden every garbage collection that is timed here.
import { columnsFromEvents } from '../libs/trajectory/dist/testing/episode-columns.js';

const RUN_ID = '00000000-0000-7000-8000-000000000000';

/** The main job's loop of collector and trainer in one process, without log and store. */
export class InMemoryLoop {
  constructor(recipe) {
    this.recipe = recipe;
    this.spec = getEnvironment(recipe.environment);
    this.text = plainPolicyText(createTokenizer(recipe.context.tokenizer, this.spec.words));
    this.engine = new TensorflowEngine({
      recipe,
      checkpoints: null,
      vocabSize: this.text.tokenizer.vocabSize,
      tokenizerHash: this.text.tokenizer.hash,
    });
    this.generator = new Generator(this.engine.model, {
      maxSlots: recipe.collection.concurrentEpisodes,
      maxTokens: longestContext(recipe),
      maxNewTokens: recipe.context.maxNewTokens,
    });
    this.rewards = new RewardScorer(recipe.reward);
    this.version = 0;
    this.beginLoop = null;
    this.trainerState = null;
    // The rewards that this loop can compute read nothing else of an episode.
    this.texts = { environment: this.spec.name, task: null, finalObservation: '', steps: [] };
  }

  /** Plays one round; returns its episodes as columns, and the fraction of them that succeeded. */
  async play({ split = 'train', numGroups, groupSize, round, greedy = false }) {
    const episodes = this.plan({ split, numGroups, groupSize, round });
    const events = new Map(episodes.map(({ episodeId }) => [episodeId, []]));
    let numSuccesses = 0;
    this.beginLoop ??= (await openLoop(this.recipe)).begin;
    const context = this.playContext({
      greedy,
      emit: (event) => events.get(event.episodeId).push(event),
      ended: (summary) => (numSuccesses += Number(summary.success)),
    });
    const numSlots = Math.min(this.recipe.collection.concurrentEpisodes, episodes.length);
    await playEpisodes({
      slots: createSlots(this.spec, numSlots, context),
      context,
      episodes,
      signal: new AbortController().signal,
      beforeTurns: async () => undefined,
      betweenActs: async () => undefined,
      onGenerationMs: () => undefined,
    });
    const columns = columnsFromEvents([...events.keys()], events);
    return { success: numSuccesses / episodes.length, columns };
  }

  plan({ split, numGroups, groupSize, round }) {
    const { recipe, spec } = this;
    const trainable = split === 'train';
    return planRound({
      runId: RUN_ID,
      seed: recipe.seed,
      spec,
      split,
      agent: 'policy',
      trainable,
      round,
      numGroups,
      groupSize,
      greedyBaseline: trainable && playsGreedyBaseline(recipe),
      firstTask: Math.max(0, round) * numGroups,
      firstOrdinal: 0,
    });
  }

  /** The collector's context: an actor for the policy, and a recorder without times, engine and model. */
  playContext({ greedy, emit, ended }) {
    const { temperature } = this.recipe.collection;
    const { maxNewTokens } = this.recipe.context;
    const actor = new PolicyActor({
      generator: this.generator,
      text: this.text,
      maxTokens: longestContext(this.recipe),
      sampling: { temperature, topK: 0, topP: 1, greedy, maxNewTokens },
    });
    const recorder = {
      ...{ runId: RUN_ID, logId: '', environment: this.spec.name },
      ...{ engine: '', model: '', tokenizerHash: '', nowUs: () => 0 },
    };
    const { prompts } = this.text;
    const { beginLoop } = this;
    const limits = episodeLimits(this.recipe);
    const context = { actor, beginLoop, prompts, limits, recorder };
    return { ...context, emit, ended, onEnvironmentMs: () => undefined };
  }

  /** Makes one update of the policy on these episodes. */
  async update(columns, updateNumber) {
    const plan = {
      ...{ stage: 'policy', updateNumber, policyVersionIn: this.version, seed: updateNumber },
      ...{ runIds: [], groupRuns: null, episodeGroups: null, groupWeights: null },
    };
    const result = await computeUpdate({
      plan,
      columns,
      texts: readsTexts(this.recipe, this.rewards) ? columns.episodeIds.map(() => this.texts) : null,
      recipe: this.recipe,
      rewards: this.rewards,
      engine: this.engine,
      reference: null,
      recordedRewards: null,
      trainerState: this.trainerState,
    });
    this.trainerState = result.trainerState;
    this.version += 1;
    this.generator.setPolicyVersion(this.version);
    return result;
  }
}
