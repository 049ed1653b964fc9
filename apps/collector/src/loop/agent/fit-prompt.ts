import type { Truncation } from '@retrace/config';
import type { Draft, HistoryContext } from './history-context.js';
import type { PromptRequest } from './prompt-texts.js';
import { isPairAt } from './shown-text.js';

interface FitOptions {
  readonly maxTokens: number;
  readonly truncation: Truncation;
}

/** A prompt that fits, or the shortest one there is. */
export interface FittedPrompt {
  readonly draft: Draft;
  readonly fits: boolean;
  /** Characters of the observation that it does not show. */
  readonly numCutCharacters: number;
}

/** Most characters of a token that tokenizers have; an observation beyond them can't fit and is cut before it is tokenized. */
const MAX_CHARACTERS_PER_TOKEN = 128;

/** Makes a prompt fit as the recipe says: drops the oldest turns, then the start or the end of the observation. */
export function fitPrompt(
  context: HistoryContext,
  request: PromptRequest,
  options: FitOptions,
): FittedPrompt {
  const { maxTokens, truncation } = options;
  let shortest: Draft | null = null;
  const whole = request.observation.length;
  const mayCut = truncation === 'cutObservationStart' || truncation === 'cutObservationEnd';
  if (!mayCut || whole <= maxTokens * MAX_CHARACTERS_PER_TOKEN) {
    for (const draft of context.drafts(request, maxTokens)) {
      if (countTokens(draft) <= maxTokens) return { draft, fits: true, numCutCharacters: 0 };
      shortest = draft;
      if (truncation === 'endEpisode') break;
    }
  }
  const cut = mayCut ? longestCut(context, request, options) : null;
  if (cut !== null) return cut;
  return {
    draft: shortest ?? context.shortest({ ...request, observation: '' }),
    fits: false,
    numCutCharacters: 0,
  };
}

/** The prompt with as much of the observation as fits; null when not even none of it does. */
function longestCut(
  context: HistoryContext,
  request: PromptRequest,
  { maxTokens, truncation }: FitOptions,
): FittedPrompt | null {
  const { observation } = request;
  let best: FittedPrompt | null = null;
  let low = 0;
  let high = Math.min(observation.length, maxTokens * MAX_CHARACTERS_PER_TOKEN);
  while (low <= high) {
    const numKept = (low + high) >> 1;
    const text = cutText(observation, numKept, truncation);
    const draft = context.shortest({ ...request, observation: text });
    if (countTokens(draft) <= maxTokens) {
      best = { draft, fits: true, numCutCharacters: observation.length - text.length };
      low = numKept + 1;
    } else high = numKept - 1;
  }
  return best;
}

/** Keeps at most that many characters; no surrogate pair is cut in two. */
function cutText(text: string, numKept: number, truncation: Truncation): string {
  if (truncation === 'cutObservationEnd') {
    return text.slice(0, isPairAt(text, numKept) ? numKept - 1 : numKept);
  }
  const from = text.length - numKept;
  return text.slice(isPairAt(text, from) ? from + 1 : from);
}

export function countTokens({
  keptPrefixTokens,
  tokenIds,
}: Pick<Draft, 'keptPrefixTokens' | 'tokenIds'>): number {
  return keptPrefixTokens + tokenIds.length;
}
