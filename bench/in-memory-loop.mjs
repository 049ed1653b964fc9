/**
 * The main job's loop in one process, without log and store: the peer that the pipeline is measured against, and the
 * quickest way to try a recipe.
 *
 *   node bench/in-memory-loop.mjs <recipe> [--updates N] [--seed S] [--backend NAME] [--set key=value]… [--test] [--json]
 */
import { parseArgs } from 'node:util';
import { createSlots, planRound, playEpisodes, PolicyActor } from '@retrace/collector';
import { longestContext, matrixProducts, playsGreedyBaseline, resolveRecipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import { createTokenizer, Generator, plainPolicyText } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { RewardScorer } from '@retrace/scoring';
import { computeUpdate, TensorflowEngine, readsTexts } from '@retrace/trainer';
import { columnsFromEvents } from './columns-from-events.mjs';

const runId = '00000000-0000-7000-8000-000000000000';

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
    this.trainerState = null;
    // Nothing that this loop can score reads more of an episode.
    this.texts = { environment: this.spec.name, task: null, finalObservation: '', steps: [] };
  }

  async play({ split = 'train', numGroups, groupSize, round, greedy = false }) {
    const { recipe, spec, text } = this;
    const trainable = split === 'train';
    const episodes = planRound({
      runId,
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
    const { temperature } = recipe.collection;
    const { maxNewTokens, window } = recipe.context;
    const maxTokens = longestContext(recipe);
    const actor = new PolicyActor({
      generator: this.generator,
      text,
      maxTokens,
      sampling: { temperature, topK: 0, topP: 1, greedy, maxNewTokens },
    });
    const events = new Map();
    let numSuccesses = 0;
    const context = {
      actor,
      prompts: text.prompts,
      window,
      maxNewTokens,
      recorder: {
        runId,
        logId: '',
        environment: spec.name,
        engine: '',
        model: '',
        tokenizerHash: '',
        nowUs: () => 0,
      },
      emit: (event) => {
        const known = events.get(event.episodeId);
        if (known) known.push(event);
        else events.set(event.episodeId, [event]);
      },
      ended: (summary) => (numSuccesses += Number(summary.success)),
      onEnvironmentMs: () => undefined,
    };
    await playEpisodes({
      slots: createSlots(spec, Math.min(recipe.collection.concurrentEpisodes, episodes.length), context),
      context,
      episodes,
      signal: new AbortController().signal,
      beforeTurns: async () => undefined,
      betweenActs: async () => undefined,
      onGenerationMs: () => undefined,
    });
    return {
      success: numSuccesses / episodes.length,
      columns: columnsFromEvents(
        episodes.map((episode) => episode.episodeId),
        events,
      ),
    };
  }

  async update(columns, updateNumber) {
    const plan = { stage: 'policy', updateNumber, policyVersionIn: this.version, seed: updateNumber };
    const result = await computeUpdate({
      plan,
      columns,
      texts: readsTexts(this.recipe, this.rewards) ? columns.episodeIds.map(() => this.texts) : null,
      recipe: this.recipe,
      rewards: this.rewards,
      engine: this.engine,
      referenceWeights: null,
      recordedRewards: null,
      trainerState: this.trainerState,
    });
    this.trainerState = result.trainerState;
    this.version += 1;
    this.generator.setPolicyVersion(this.version);
    return result;
  }
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      updates: { type: 'string' },
      seed: { type: 'string' },
      backend: { type: 'string' },
      set: { type: 'string', multiple: true },
      test: { type: 'boolean' },
      json: { type: 'boolean' },
    },
  });
  const recipe = resolveRecipe(positionals[0] ?? 'frozen-lake-ppo', {
    numUpdates: values.updates && Number(values.updates),
    seed: values.seed && Number(values.seed),
    assignments: values.set,
  });
  const backend = await openBackend({
    ...matrixProducts(recipe),
    prefer: values.backend && [values.backend],
  });
  const print = values.json ? () => undefined : console.log;
  print(backend.reason);
  const loop = new InMemoryLoop(recipe);
  const { groupsPerRound, groupSize } = recipe.collection;
  let started = performance.now();
  let generateMs = 0;
  let updateMs = 0;
  let numSteps = 0;
  for (let u = 0; u < recipe.numUpdates; u++) {
    const t0 = performance.now();
    const { success, columns } = await loop.play({ numGroups: groupsPerRound, groupSize, round: u });
    const t1 = performance.now();
    const { outcome } = await loop.update(columns, u + 1);
    const t2 = performance.now();
    if (u === 0) {
      // The first update pays for what TensorFlow sets up once; the pipeline is timed from its first policy, too.
      started = t2;
      continue;
    }
    generateMs += t1 - t0;
    updateMs += t2 - t1;
    numSteps += columns.steps.length;
    const { everyUpdates, numValidationEpisodes } = recipe.evaluation;
    if (everyUpdates > 0 && (u + 1) % everyUpdates === 0) {
      const validation = await loop.play({
        split: 'validation',
        numGroups: numValidationEpisodes,
        groupSize: 1,
        round: -2,
        greedy: true,
      });
      const seconds = (performance.now() - started) / 1000;
      print(
        `${u + 1} ${seconds.toFixed(0)}s rollout ${success.toFixed(3)} validation ${validation.success.toFixed(3)} entropy ${outcome.entropy.toFixed(3)} ` +
          `clip ${outcome.clipFraction.toFixed(3)} | generate ${Math.round((1000 * numSteps) / generateMs)} steps/s, train ${Math.round(outcome.numTrainedTokens / ((t2 - t1) / 1000))} tokens/s, ` +
          `${Math.round(numSteps / seconds)} steps/s, per update ${Math.round(t1 - t0)}+${Math.round(t2 - t1)} ms`,
      );
    }
  }
  if (values.json) {
    const ms = performance.now() - started;
    console.log(JSON.stringify({ stepsPerSecond: (1000 * numSteps) / ms, updateShare: updateMs / ms }));
  }
  if (values.test) {
    const test = await loop.play({ split: 'test', numGroups: 1000, groupSize: 1, round: -2, greedy: true });
    print(
      `TEST ${recipe.name} seed ${recipe.seed}: ${test.success.toFixed(4)} after ${((performance.now() - started) / 1000).toFixed(0)} s`,
    );
  }
}

if (process.argv[1].endsWith('in-memory-loop.mjs')) await main();
