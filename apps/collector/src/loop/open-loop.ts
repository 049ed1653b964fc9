import {
  agentSettings,
  episodeLimits,
  longestContext,
  type AgentRecipe,
  type CollectionRecipe,
  type ContextRecipe,
  type Recipe,
} from '@retrace/config';
import { agentLoop, chatTools, promptLimits, type AgentRoom } from './agent/begin-agent-loop.js';
import { loadFormatModule } from './agent/load-format-module.js';
import { directLoop } from './direct-loop.js';
import { EpisodeBudget } from './episode-budget.js';
import type { BeginLoop, EpisodeLoops } from './episode-loop.js';
import { loadAgentModule } from './module/load-agent-module.js';
import { ModuleLoop } from './module/module-loop.js';

interface LoopRecipe extends Pick<Recipe, 'agent' | 'model' | 'policy'> {
  readonly context: ContextRecipe;
  readonly collection: Partial<CollectionRecipe>;
}

/**
 * The loop of a recipe's episodes.
 *
 * @throws CollectorError `INVALID_SETTING` for a module that is no agent, or no format; AgentFormatError for a section that `parseRecipe` refuses
 */
export async function openLoop(recipe: LoopRecipe): Promise<EpisodeLoops> {
  const { agent, context } = recipe;
  const limits = episodeLimits(recipe);
  if (!agent) {
    return { begin: directLoop({ ...context, ...limits }), stopStrings: [], write: (action) => action };
  }
  const ownFormat =
    agent.formatModule === undefined ? undefined : await loadFormatModule(agent.formatModule, agent.options);
  const settings = agentSettings(agent, ownFormat);
  const { format } = settings;
  const room = { maxTokens: longestContext(recipe), maxNewTokens: context.maxNewTokens };
  const begin =
    agent.module === undefined
      ? agentLoop(agent, settings, room)
      : await moduleLoop(agent.module, agent, { ...room, timeoutMs: limits.stepTimeoutMs });
  return { begin, stopStrings: format.stopStrings, write: (action) => format.write({ actions: [action] }) };
}

async function moduleLoop(
  path: string,
  agent: AgentRecipe,
  room: AgentRoom & { readonly timeoutMs: number },
): Promise<BeginLoop> {
  const { name, begin } = await loadAgentModule(path, agent.options);
  const { format, invalidAction } = agentSettings(agent);
  const tools = chatTools(agent);
  return (start) => {
    const { maxTurns, maxPromptTokens } = promptLimits(agent, start, room);
    const budget = new EpisodeBudget({
      maxTurns,
      maxEpisodeTokens: agent.maxEpisodeTokens ?? null,
      maxInvalidTurns: invalidAction.endAfter,
    });
    return new ModuleLoop({
      ...{ name, tools, budget, maxPromptTokens, prompts: start.prompts },
      ...{ maxNewTokens: room.maxNewTokens, timeoutMs: room.timeoutMs },
      begin: () => begin({ format, maxTurns }),
    });
  };
}
