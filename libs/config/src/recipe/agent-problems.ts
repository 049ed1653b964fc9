import { actionFormat, agentTemplates, type ActionFormat } from '@retrace/agents';
import type { AgentRecipe, Truncation } from './agent-recipe.js';
import { longestContext } from './model-problems.js';
import type { Recipe } from './recipe.js';

/** The section `agent` with its defaults. */
export interface AgentSettings {
  readonly format: ActionFormat;
  readonly history: {
    readonly policy: NonNullable<AgentRecipe['history']>['policy'];
    readonly length: number;
    readonly keepThoughts: boolean;
    readonly trainSummaries: boolean;
  };
  readonly invalidAction: {
    readonly execute: boolean;
    readonly tell: boolean;
    readonly endAfter: number | null;
  };
  readonly showLegalActions: boolean;
  readonly truncation: Truncation;
}

/**
 * The section `agent` with the defaults of what it leaves out.
 *
 * @param ownFormat that of `formatModule`, in place of a format by name
 * @throws AgentFormatError for an unknown format, or tools that are none
 */
export function agentSettings(agent: AgentRecipe, ownFormat?: ActionFormat): AgentSettings {
  const { format = 'bare', strict = true, maxActionsPerTurn, tools, history, invalidAction } = agent;
  return {
    format: ownFormat ?? actionFormat(format, { strict, maxActions: maxActionsPerTurn, tools }),
    history: {
      policy: history?.policy ?? 'observation',
      length: history?.length ?? 2,
      keepThoughts: history?.keepThoughts ?? true,
      trainSummaries: history?.trainSummaries ?? false,
    },
    invalidAction: {
      execute: invalidAction?.execute ?? true,
      tell: invalidAction?.tell ?? true,
      endAfter: invalidAction?.endAfter ?? null,
    },
    showLegalActions: agent.showLegalActions ?? true,
    truncation: agent.truncation ?? 'dropHistory',
  };
}

/** Checks the section `agent`, and that the rest of the recipe fits it. */
export function agentProblems(recipe: Recipe): string[] {
  const { agent } = recipe;
  if (!agent) return [];
  return [...formatProblems(agent), ...templateProblems(agent), ...fitProblems(recipe, agent)];
}

function formatProblems(agent: AgentRecipe): string[] {
  if (agent.formatModule !== undefined) return [];
  const message = catchMessage(() => agentSettings(agent));
  if (message !== null) return [`agent.format: ${message}`];
  if (agent.toolsInChatTemplate && !agent.tools)
    return ['"agent.tools" is required with agent.toolsInChatTemplate'];
  return [];
}

function templateProblems(agent: AgentRecipe): string[] {
  const { history, invalidAction, userTemplate: user = null, module } = agent;
  const { systemTemplate: system = null, firstUserTemplate: firstUser = null } = agent;
  const sources = { system, firstUser, user, summary: agent.summaryTemplate ?? null };
  if (module !== undefined) return [];
  const policy = history?.policy ?? 'observation';
  const message = catchMessage(() => agentTemplates(sources, policy));
  if (message !== null) return [`agent.${message}`];
  const tells = invalidAction?.tell ?? true;
  if (user !== null && tells && !agentTemplates(sources, policy).user.placeholders.has('problem')) {
    return ['agent.userTemplate: must have the placeholder problem, or agent.invalidAction.tell be false'];
  }
  return [];
}

function fitProblems(recipe: Recipe, agent: AgentRecipe): string[] {
  const { context, imitation } = recipe;
  const problems: string[] = [];
  if (context.tokenizer === 'word') {
    problems.push(
      'context.tokenizer: got "word", must be byte or model with agent: its prompts and formats have words that environments lack',
    );
  }
  const policy = agent.history?.policy ?? 'observation';
  const window = agent.module !== undefined || policy === 'full' ? 'history' : 'observation';
  if (context.window !== window) {
    problems.push(
      agent.module !== undefined
        ? `context.window: got "${context.window}", must be "history" with agent.module, whose calls continue one context where they can`
        : `context.window: got "${context.window}", must be "${window}" with agent.history.policy "${policy}"`,
    );
  }
  if (policy === 'summary' && agent.history?.length === 0) {
    problems.push('agent.history.length: got 0, must be at least 1 with history.policy "summary"');
  }
  const isSilent = agent.module !== undefined || policy === 'summary';
  if (imitation && isSilent) {
    problems.push(
      'imitation: must be null with agent.module or history.policy "summary": scripted agents write actions only',
    );
  }
  return [...problems, ...budgetProblems(recipe, agent)];
}

function budgetProblems(recipe: Recipe, { maxPromptTokens, maxEpisodeTokens }: AgentRecipe): string[] {
  const { maxNewTokens } = recipe.context;
  const problems: string[] = [];
  const room = longestContext(recipe) - maxNewTokens;
  if (maxPromptTokens !== undefined && maxPromptTokens > room) {
    problems.push(
      `agent.maxPromptTokens: got ${maxPromptTokens}, must be at most ${room}, which maxPositions less context.maxNewTokens leaves`,
    );
  }
  if (maxEpisodeTokens !== undefined && maxEpisodeTokens <= maxNewTokens) {
    problems.push(
      `agent.maxEpisodeTokens: got ${maxEpisodeTokens}, must be more than context.maxNewTokens (${maxNewTokens})`,
    );
  }
  return problems;
}

function catchMessage(action: () => unknown): string | null {
  try {
    action();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
