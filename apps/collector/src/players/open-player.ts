import { episodeLimits, longestContext, parseRecipe, type ContextRecipe, type Recipe } from '@retrace/config';
import type { EnvironmentSpec } from '@retrace/environments';
import type { ControlTail } from '@retrace/log';
import {
  Generator,
  loadHuggingFaceModel,
  openPolicyCheckpoint,
  openPolicyText,
  type CheckpointFiles,
  type PolicyText,
  type Transformer,
} from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { findStoredPolicy, type StoredPolicy } from '../actors/find-stored-policy.js';
import { openChatEndpoint } from '../actors/open-chat-endpoint.js';
import { PolicyActor } from '../actors/policy-actor.js';
import { ScriptedActor, scriptedAgent } from '../actors/scripted-actor.js';
import { CollectorError } from '../collector-error.js';
import type { EpisodeLoops } from '../loop/episode-loop.js';
import { openLoop } from '../loop/open-loop.js';
import type { Player } from './player.js';
import { readPlayerName, type PlayerName } from './player-name.js';

export interface OpenPlayerOptions {
  /** As `readPlayerName` reads it. */
  readonly name: string;
  /** Caught up with the log. */
  readonly control: ControlTail;
  readonly checkpoints: CheckpointFiles;
  readonly spec: EnvironmentSpec;
  /** Most episodes at the same time. */
  readonly maxSlots: number;
  /** Context and limits of players that have no run: model directories and servers (default: the whole history as messages). */
  readonly recipe?: Recipe;
  /** Fields that are left out are as in the policy's run; without one, temperature 1. */
  readonly sampling?: Partial<Pick<SamplingParameters, 'temperature' | 'topK' | 'topP' | 'greedy'>>;
  /** Name of the variable that holds the API key of a server; without it, none is sent. */
  readonly apiKeyVariable?: string;
  /** The environment of the process. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Ends the requests of a server. */
  readonly signal: AbortSignal;
}

/** Longest context of a model directory where no recipe says it. */
const MAX_POSITIONS = 4096;
const MAX_NEW_TOKENS = 256;

/**
 * Opens a player for one environment.
 *
 * @throws EnvironmentError `UNKNOWN_AGENT`; CollectorError `NO_POLICY`, `INVALID_SETTING`; PolicyError when weights are missing or unsupported
 */
export async function openPlayer(options: OpenPlayerOptions): Promise<Player> {
  const named = readPlayerName(options.name);
  switch (named.kind) {
    case 'stored':
      return openStored(findStoredPolicy(options.control, options.spec, named.name), options);
    case 'directory':
      return openDirectory(named.directory, options);
    case 'endpoint':
      return openEndpoint(named, options);
    case 'scripted':
      return openScripted(named.name, options);
  }
}

async function openStored(
  { run, policy }: StoredPolicy,
  { checkpoints, spec, maxSlots, sampling }: OpenPlayerOptions,
): Promise<Player> {
  const recipe = parseRecipe(run.started.recipe);
  const text = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: spec.words,
    directory: recipe.policy?.model,
    useChatTemplate: recipe.policy?.chatTemplate,
  });
  const model = await openPolicyCheckpoint(checkpoints, policy.weights);
  const { policyVersion } = policy;
  const loops = await openLoop(recipe);
  return {
    ...localActor(model, {
      ...{ text, maxSlots, loops, context: recipe.context, maxTokens: longestContext(recipe) },
      sampling: { temperature: recipe.collection.temperature, ...sampling },
    }),
    ...settingOf(text, loops, recipe),
    agent: 'policy',
    description: `run:${run.runId}@${policyVersion}`,
    server: null,
    source: { runId: run.runId, policyVersion },
  };
}

async function openDirectory(
  directory: string,
  { maxSlots, sampling, recipe }: OpenPlayerOptions,
): Promise<Player> {
  const policy = recipe?.policy ?? null;
  const text = await openPolicyText({
    tokenizer: 'model',
    words: null,
    directory,
    useChatTemplate: policy?.chatTemplate,
  });
  const model = await loadHuggingFaceModel(directory, {
    // Every weight that acts is in the files.
    seed: 0,
    valueHead: false,
    ...(policy && { maxPositions: policy.maxPositions }),
    ...(policy?.adapter && { adapterDirectory: policy.adapter }),
  });
  const maxNewTokens = Math.min(MAX_NEW_TOKENS, Math.floor(model.config.maxPositions / 2));
  const plain = { context: { window: 'history', tokenizer: 'model', maxNewTokens } as const, collection: {} };
  const setting = recipe ?? plain;
  const maxTokens = policy ? policy.maxPositions : Math.min(model.config.maxPositions, MAX_POSITIONS);
  const loops = await openLoop(setting);
  return {
    ...localActor(model, { text, maxSlots, loops, context: setting.context, maxTokens, sampling }),
    ...settingOf(text, loops, setting),
    agent: 'policy',
    description: directory,
    server: null,
    source: null,
  };
}

async function openEndpoint(
  { api, url, model }: Extract<PlayerName, { kind: 'endpoint' }>,
  options: OpenPlayerOptions,
): Promise<Player> {
  const { maxSlots, recipe, sampling = {}, apiKeyVariable, variables = {}, signal } = options;
  if (sampling.topK !== undefined) {
    const message = `topK: got ${sampling.topK}, and the API of ${options.name} has no such setting`;
    throw new CollectorError('INVALID_SETTING', message);
  }
  const endpoint = await openChatEndpoint({
    kind: api,
    ...{ url, model, apiKeyVariable, variables, signal },
    ...{ temperature: sampling.temperature, topP: sampling.topP, greedy: sampling.greedy },
    ...(recipe && { maxNewTokens: recipe.context.maxNewTokens, stopStrings: recipe.context.stopStrings }),
    concurrency: maxSlots,
  });
  const { collection = {}, agent } = recipe ?? {};
  const context = recipe ? { ...recipe.context, tokenizer: endpoint.context.tokenizer } : endpoint.context;
  const setting = { context, collection, agent };
  return {
    actor: endpoint.actor,
    ...settingOf(endpoint.text, await openLoop(setting), setting),
    agent: 'policy',
    description: `${api}:${model}`,
    server: endpoint.describe,
    source: null,
    close: () => undefined,
  };
}

async function openScripted(name: string, { spec }: OpenPlayerOptions): Promise<Player> {
  const agent = scriptedAgent(spec, name);
  const context: ContextRecipe = {
    window: 'observation',
    tokenizer: spec.words === null ? 'byte' : 'word',
    maxNewTokens: 1,
  };
  const text = await openPolicyText({
    tokenizer: context.tokenizer,
    words: spec.words,
    directory: undefined,
  });
  const setting = { context, collection: {} };
  return {
    actor: new ScriptedActor(agent, text, context.maxNewTokens),
    ...settingOf(text, await openLoop(setting), setting),
    agent: name,
    description: name,
    server: null,
    source: null,
    close: () => undefined,
  };
}

/** Text, loop and limits, which follow from the context in the same way for every player. */
function settingOf(text: PolicyText, loops: EpisodeLoops, recipe: Parameters<typeof openLoop>[0]) {
  const { maxNewTokens } = recipe.context;
  return { text, maxNewTokens, loops, limits: episodeLimits(recipe) };
}

interface LocalActorOptions {
  readonly text: PolicyText;
  readonly context: ContextRecipe;
  readonly maxTokens: number;
  readonly maxSlots: number;
  readonly loops: EpisodeLoops;
  readonly sampling: OpenPlayerOptions['sampling'];
}

/** Its steps have no policy version, because versions of one run mean nothing in another. */
function localActor(
  model: Transformer,
  { text, context, maxTokens, maxSlots, loops, sampling = {} }: LocalActorOptions,
): Pick<Player, 'actor' | 'close'> {
  const { maxNewTokens, stopStrings } = context;
  const decode = (tokenIds: Int32Array) => text.tokenizer.decode(tokenIds);
  const generator = new Generator(model, { maxSlots, maxTokens, maxNewTokens, decode });
  generator.setPolicyVersion(-1);
  const { temperature = 1, topK = 0, topP = 1, greedy = false } = sampling;
  return {
    actor: new PolicyActor({
      ...{ generator, text, maxTokens, stopStrings, ownStopStrings: loops.stopStrings },
      sampling: { temperature, topK, topP, greedy, maxNewTokens },
    }),
    close: () => {
      generator.dispose();
      model.dispose();
    },
  };
}
