import { completionTool } from '@retrace/chat';
import { isJsonObject, type Json, parsedJson } from '@retrace/trajectory';
import type { EpisodeFacts, StoredStep } from './stored-episode.js';

/** Definitions of tools in OpenAI's shape, `{type: 'function', function: {name, description, parameters}}`. */
export type ToolDefinitions = readonly Json[];

/** The tools that an episode's recorder put into its metadata under `tools`, as a list or as its JSON; null where there are none. */
export function toolsOfEpisode({ metadata }: Pick<EpisodeFacts, 'metadata'>): ToolDefinitions | null {
  const value = JSON.parse(metadata ?? 'null') as Json;
  return isJsonObject(value) ? definitionsIn(value.tools) : null;
}

/** The tools that a call offered, which recorders put into its info where they are others than before; null = as before. */
export function toolsOfStep({
  toolDefinitions,
}: Pick<StoredStep, 'toolDefinitions'>): ToolDefinitions | null {
  return definitionsIn(toolDefinitions);
}

/** Trainers render the tools into the prompt, as the model was shown them. */
export function toolsField(tools: ToolDefinitions | null): { readonly tools?: ToolDefinitions } {
  return tools === null || tools.length === 0 ? {} : { tools };
}

function definitionsIn(value: Json | undefined): ToolDefinitions | null {
  const list = typeof value === 'string' ? parsedJson(value) : value;
  if (!Array.isArray(list)) return null;
  // Parts of stored JSON, so none of their fields is undefined.
  return list.map(completionTool).filter((tool) => tool !== null) as ToolDefinitions;
}
