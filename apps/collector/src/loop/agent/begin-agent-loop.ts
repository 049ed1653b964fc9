import { agentTemplates } from '@retrace/agents';
import type { AgentRecipe, AgentSettings } from '@retrace/config';
import type { TemplateTool } from '@retrace/policy';
import { EpisodeBudget } from '../episode-budget.js';
import type { BeginLoop, LoopStart } from '../episode-loop.js';
import { AgentLoop } from './agent-loop.js';
import { FreshContext } from './fresh-context.js';
import { FullContext } from './full-context.js';
import { PromptTexts } from './prompt-texts.js';
import { SummaryNotes } from './summary-notes.js';

/** Limits that an agent has from elsewhere in the recipe. */
export interface AgentRoom {
  /** Positions that a prompt and its turn may fill together. */
  readonly maxTokens: number;
  readonly maxNewTokens: number;
}

/** The loop of a recipe's section `agent`. @throws AgentFormatError for a template that is none */
export function agentLoop(agent: AgentRecipe, settings: AgentSettings, room: AgentRoom): BeginLoop {
  const texts = new PromptTexts(
    agentTemplates(
      {
        system: agent.systemTemplate ?? null,
        firstUser: agent.firstUserTemplate ?? null,
        user: agent.userTemplate ?? null,
        summary: agent.summaryTemplate ?? null,
      },
      settings.history.policy,
    ),
  );
  const tools = chatTools(agent);
  return (start) => {
    const { maxPromptTokens, maxTurns } = promptLimits(agent, start, room);
    const fixed = { prompts: start.prompts, texts, tools };
    const limits = {
      maxTurns,
      maxEpisodeTokens: agent.maxEpisodeTokens ?? null,
      maxInvalidTurns: settings.invalidAction.endAfter,
    };
    return new AgentLoop({
      ...toContext(settings, fixed),
      settings,
      budget: new EpisodeBudget(limits),
      maxTurns,
      maxPromptTokens,
      maxNewTokens: room.maxNewTokens,
      taskMarker: agent.taskMarker,
      tools,
    });
  };
}

/** The limits of an episode, with the defaults of those that the recipe leaves out. */
export function promptLimits({ maxPromptTokens, maxTurns }: AgentRecipe, start: LoopStart, room: AgentRoom) {
  const left = Math.min(start.maxTokens, room.maxTokens) - room.maxNewTokens;
  return {
    maxPromptTokens: Math.min(maxPromptTokens ?? Infinity, left),
    maxTurns: maxTurns ?? start.maxSteps,
  };
}

/** The tools as chat templates take them, where the recipe gives them to the template. */
export function chatTools({ tools, toolsInChatTemplate }: AgentRecipe): readonly TemplateTool[] | undefined {
  if (!toolsInChatTemplate) return undefined;
  return tools?.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters },
  }));
}

function toContext(
  { history: { policy, length, keepThoughts } }: AgentSettings,
  fixed: Pick<ConstructorParameters<typeof FullContext>[0], 'prompts' | 'texts' | 'tools'>,
) {
  if (policy === 'full') return { context: new FullContext({ ...fixed, keepThoughts }), notes: null };
  const context = new FreshContext({ ...fixed, numShown: policy === 'observation' ? 0 : length });
  return { context, notes: policy === 'summary' ? new SummaryNotes(context, length) : null };
}
