import { statSync } from 'node:fs';
import type { ContextRecipe } from '@retrace/config';
import { describeVllmModel, findLogprobMode, openTokenEngine, ServiceClient } from '@retrace/endpoints';
import { openPolicyText } from '@retrace/policy';
import { EndpointActor, type TurnSampler } from '../actors/endpoint-actor.js';
import { probes } from '../actors/policy-server.js';
import { CollectorError } from '../collector-error.js';
import { openLoop } from '../loop/open-loop.js';
import type { OpenPlayerOptions } from './open-player-options.js';
import type { Player } from './player.js';
import { makePlayerSetting } from './player-setting.js';

const ENGINE = { timeoutMs: 120_000, maxRetries: 3 };
const MAX_POSITIONS = 4096;
const MAX_NEW_TOKENS = 256;

/**
 * Opens a model of a vLLM server, which is asked for token ids: its steps have the tokens that the model read and wrote, and its logprobs. The
 * tokenizer is that of `policy.model` of the recipe, or without one that of the directory that the server says it loaded.
 *
 * @throws CollectorError `INVALID_SETTING` when that directory is not on this machine; EndpointError when the server does not answer
 */
export async function openTokenServer(
  { url, model }: { readonly url: string; readonly model: string },
  { maxSlots, recipe, sampling = {}, apiKeyVariable, variables = {}, signal }: OpenPlayerOptions,
): Promise<Player> {
  const service = new ServiceClient({ url, concurrency: maxSlots, isPatient: true });
  const options = { ...ENGINE, headers: authorization(apiKeyVariable, variables) };
  const served = await describeVllmModel(service, options, { model, signal });
  const policy = recipe?.policy ?? null;
  const text = await openPolicyText({
    tokenizer: 'model',
    words: null,
    directory: tokenizerDirectory(policy?.model, served.root),
    useChatTemplate: policy?.chatTemplate,
  });
  const maxNewTokens = Math.min(MAX_NEW_TOKENS, Math.floor(served.maxTokens / 2));
  const context: ContextRecipe = recipe?.context ?? { window: 'history', tokenizer: 'model', maxNewTokens };
  const setting = recipe ?? { context, collection: {} };
  const loops = await openLoop(setting);
  const engine = openTokenEngine('vllm', service, options);
  const { temperature = 1, topK = 0, topP = 1, greedy = false } = sampling;
  const logprobMode = await findLogprobMode(engine, model, probes(text));
  const sampler: TurnSampler = {
    sample: async (_slot, request, ended) => ({
      generated: await engine.generate({ ...request, model }, ended),
      ...{ policyVersion: -1, logprobMode },
    }),
    release: () => undefined,
  };
  return {
    actor: new EndpointActor({
      ...{ sampler, text, signal, stopStrings: context.stopStrings, ownStopStrings: loops.stopStrings },
      maxTokens: Math.min(policy?.maxPositions ?? MAX_POSITIONS, served.maxTokens),
      sampling: { temperature, topK, topP, greedy, maxNewTokens: context.maxNewTokens },
    }),
    ...makePlayerSetting(text, loops, setting),
    agent: 'policy',
    description: `vllm:${model}`,
    server: await engine.describe(signal),
    hasOwnTokens: true,
    source: null,
    close: () => void service.close(),
  };
}

function tokenizerDirectory(ofRecipe: string | undefined, ofServer: string | null): string {
  const directory = ofRecipe ?? ofServer ?? '';
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return directory;
  const message =
    `policy: the server's model "${directory}" is no directory of this machine, so its tokenizer is unknown; name a --recipe whose ` +
    'policy.model is a copy of it';
  throw new CollectorError('INVALID_SETTING', message);
}

function authorization(
  apiKeyVariable: string | undefined,
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  if (apiKeyVariable === undefined) return {};
  const key = variables[apiKeyVariable] ?? '';
  if (key !== '') return { authorization: `Bearer ${key}` };
  throw new CollectorError(
    'INVALID_SETTING',
    `apiKeyVariable: ${apiKeyVariable} is not set in the environment`,
  );
}
