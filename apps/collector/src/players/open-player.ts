import { longestContext, parseRecipe, type ContextRecipe } from '@retrace/config';
import {
  Generator,
  loadHuggingFaceModel,
  openPolicyCheckpoint,
  openPolicyText,
  type PolicyText,
  type Transformer,
} from '@retrace/policy';
import { findStoredPolicy, type StoredPolicy } from '../actors/find-stored-policy.js';
import { openChatEndpoint } from '../actors/open-chat-endpoint.js';
import { PolicyActor } from '../actors/policy-actor.js';
import { ScriptedActor, scriptedAgent } from '../actors/scripted-actor.js';
import { CollectorError } from '../collector-error.js';
import type { EpisodeLoops } from '../loop/episode-loop.js';
import { openLoop } from '../loop/open-loop.js';
import type { OpenPlayerOptions } from './open-player-options.js';
import type { Player } from './player.js';
import { openTokenServer } from './open-token-server.js';
import { readPlayerName, type PlayerName } from './player-name.js';
import { makePlayerSetting } from './player-setting.js';

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
    case 'tokenServer':
      return openTokenServer(named, options);
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
    ...makePlayerSetting(text, loops, recipe),
    agent: 'policy',
    description: `run:${run.runId}@${policyVersion}`,
    server: null,
    hasOwnTokens: true,
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
    ...makePlayerSetting(text, loops, setting),
    agent: 'policy',
    description: directory,
    server: null,
    hasOwnTokens: true,
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
    ...makePlayerSetting(endpoint.text, await openLoop(setting), setting),
    agent: 'policy',
    description: `${api}:${model}`,
    server: endpoint.describe,
    hasOwnTokens: false,
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
    ...makePlayerSetting(text, await openLoop(setting), setting),
    agent: name,
    description: name,
    server: null,
    hasOwnTokens: false,
    source: null,
    close: () => undefined,
  };
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
