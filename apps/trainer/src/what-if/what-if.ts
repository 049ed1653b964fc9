import { whatIfRecipe, type Recipe } from '@retrace/config';
import type { RewardScorer } from '@retrace/rewards/scoring';
import { Replayer, type ReplayChanges, type ReplaySource, type ReplayOrigin } from '../replay/replayer.js';
import { compareGradients, type ComparedGradients, type ComparedLayer } from './compare-gradients.js';
import {
  compareEpisodes,
  compareTokens,
  tokensSideBySide,
  type ComparedEpisode,
  type ComparedTokens,
  type TokensSideBySide,
} from './compare-tokens.js';
import { GradientProbe } from './gradient-probe.js';
import { ScratchCheckpoints } from './scratch-checkpoints.js';

/** Rewards in place of those of the recipe: already stored scores of a version, or a recipe's. */
export type ChangedRewards = Pick<RewardScorer, 'score' | 'readsTexts'>;

export interface WhatIfOptions extends ReplaySource {
  /** The updates from … to, both included. */
  readonly from: number;
  readonly to: number;
  /** Fields of the recipe that are other: `path.to.field=value`. */
  readonly assignments: readonly string[];
  /** Null: those of the changed recipe. */
  readonly rewards: ChangedRewards | null;
  /** Whether the result lists every action token. */
  readonly withTokens: boolean;
  /** Called before updates are made again only to get to the state that the first one starts from. */
  readonly onRecompute?: (from: number, to: number) => void;
  readonly onUpdate?: (update: WhatIfUpdate) => void;
  /** Ends after the update under way. */
  readonly signal?: AbortSignal;
}

/** A metric of the whole update; NaN where one of them has none. */
export interface WhatIfMetric {
  readonly name: string;
  readonly recorded: number;
  readonly changed: number;
}

/** One update as it was recorded and as it would have been, both from the same weights and on the same episodes. */
export interface WhatIfUpdate {
  readonly updateNumber: number;
  readonly numEpisodes: number;
  /** Of the loss of the whole batch, at the weights that the update starts from. */
  readonly gradient: ComparedGradients & { readonly layers: readonly ComparedLayer[] };
  /** After all optimizer steps of either update. */
  readonly metrics: readonly WhatIfMetric[];
  readonly episodes: readonly ComparedEpisode[];
  readonly tokens: ComparedTokens;
  /** Null unless they were asked for. */
  readonly everyToken: readonly TokensSideBySide[] | null;
  /** Whether the update that was made again gave the recorded weights, bit for bit. */
  readonly sameWeights: boolean;
}

export interface WhatIfResult extends ReplayOrigin {
  readonly updates: readonly WhatIfUpdate[];
}

/**
 * Answers what recorded updates would have been with another loss, estimator, correction or reward: each from the weights that it really
 * started from, so that a range of updates compares their directions, not two runs that have parted. Nothing is published, and nothing written
 * but scratch files that are removed.
 *
 * With no change the cosine is 1 and every difference 0.
 *
 * @throws TrainerError `UPDATE_UNKNOWN`, `NOT_REPLAYABLE`, and what an update with that recipe throws; ConfigError `RECIPE_INVALID`, `WHAT_IF_INVALID`
 */
export async function whatIf(options: WhatIfOptions): Promise<WhatIfResult> {
  const { from, to, assignments, signal, onUpdate, onRecompute } = options;
  const checkpoints = await ScratchCheckpoints.over(options.checkpoints);
  try {
    const replayer = await Replayer.open({ ...options, checkpoints, engine: { kind: 'tensorflow' } });
    try {
      const recipe = whatIfRecipe(replayer.recipe, assignments);
      for (const updateNumber of [from, to]) replayer.update(updateNumber);
      const changes = await listChanges(replayer, recipe, options.rewards);
      const start = await replayer.goBefore(from, onRecompute);
      const updates: WhatIfUpdate[] = [];
      for (let n = from; n <= to && signal?.aborted !== true; n++) {
        const update = await compareUpdate(replayer, n, { changes, withTokens: options.withTokens });
        updates.push(update);
        onUpdate?.(update);
      }
      return { ...start, updates };
    } finally {
      await replayer.close();
    }
  } finally {
    await checkpoints.discard();
  }
}

type Changes = Required<Pick<ReplayChanges, 'recipe' | 'rewards'>> & Pick<ReplayChanges, 'recordedRewards'>;

/** With other rewards, nothing that the update recorded of them holds. */
async function listChanges(
  replayer: Replayer,
  recipe: Recipe,
  rewards: ChangedRewards | null,
): Promise<Changes> {
  if (rewards !== null) return { recipe, rewards, recordedRewards: null };
  const isSame = JSON.stringify(recipe.reward) === JSON.stringify(replayer.recipe.reward);
  if (isSame) return { recipe, rewards: replayer.rewards };
  return { recipe, rewards: await replayer.loadRewards(recipe.reward), recordedRewards: null };
}

/** The engine is in the state after the recorded update when it resolves. */
async function compareUpdate(
  replayer: Replayer,
  updateNumber: number,
  { changes, withTokens }: { readonly changes: Changes; readonly withTokens: boolean },
): Promise<WhatIfUpdate> {
  const { engine } = replayer;
  const before = await engine.save();
  const gradientOf = async (probed: Partial<Changes>) => {
    const { recipe = replayer.recipe } = probed;
    const probe = new GradientProbe(engine);
    const once = { ...recipe, optimizer: { ...recipe.optimizer, epochs: 1 } };
    await replayer.makeAgain(updateNumber, { ...probed, recipe: once, engine: probe });
    return engine.takeGradients();
  };
  const gradient = compareGradients(await gradientOf({}), await gradientOf(changes));
  const changed = await replayer.makeAgain(updateNumber, recordingTokens(changes, changes.recipe));
  await engine.load(before);
  const recorded = await replayer.makeAgain(updateNumber, recordingTokens({}, replayer.recipe));
  const { episodeIds, groupIds } = recorded.tokens;
  return {
    updateNumber,
    numEpisodes: episodeIds.length,
    gradient,
    metrics: sideBySide(recorded.metrics, changed.metrics),
    episodes: compareEpisodes({ episodeIds, groupIds }, recorded, changed),
    tokens: compareTokens(recorded, changed),
    everyToken: withTokens ? tokensSideBySide(episodeIds, recorded, changed) : null,
    sameWeights: await replayer.isExact(updateNumber),
  };
}

/** Has the tokens of the optimizer steps recorded, which changes nothing else. */
function recordingTokens(changes: ReplayChanges, recipe: Recipe): ReplayChanges {
  return { ...changes, recipe: { ...recipe, updateTokens: true } };
}

type Entries = readonly (readonly [name: string, value: number])[];

/** Every metric that either has, in the order of the recorded ones. */
function sideBySide(recorded: Entries, changed: Entries): WhatIfMetric[] {
  const [before, after] = [new Map(recorded), new Map(changed)];
  return [...new Set([...before.keys(), ...after.keys()])].map((name) => ({
    name,
    recorded: before.get(name) ?? Number.NaN,
    changed: after.get(name) ?? Number.NaN,
  }));
}
