import type { Tokenizer } from '@retrace/policy';
import type { StepRecorded } from '@retrace/trajectory';
import { concatTokens } from '../turn/concat-tokens.js';
import { scriptedTokens, unsampledTurn } from '../actors/scripted-actor.js';
import type { Prompt, Turn } from '../turn/turn.js';
import type { ForkSpeech } from './fork-start.js';
import type { ForkedStep } from './forked-step.js';

/** An action that the caller chose, as a scripted agent would have said it. @throws PolicyError for a text that the tokenizer can't encode */
export function forcedTurn(action: string, speech: ForkSpeech): Turn {
  return spokenTurn(speech.loops.write(action), speech);
}

/**
 * The recorded turn that answered a prompt, as one that no policy samples now. Its tokens are the recorded ones, unless another tokenizer made
 * them. Of a turn that is not trained on, which is stored as part of the prompt, they are those after the prompt.
 */
export function recordedTurn(step: StepRecorded, prompt: Pick<Prompt, 'tokenIds'>, speech: ForkSpeech): Turn {
  const { action, tokenIds, actionMask, tokenizerHash } = step;
  if (tokenizerHash !== speech.text.tokenizer.hash) return spokenTurn(action, speech);
  const firstAction = actionMask.indexOf(1);
  return unsampledTurn(action, tokenIds.slice(firstAction < 0 ? prompt.tokenIds.length : firstAction));
}

function spokenTurn(said: string, { text, maxNewTokens, loops: { stopStrings } }: ForkSpeech): Turn {
  return unsampledTurn(said, scriptedTokens(said, text, { maxNewTokens, stopStrings }));
}

/** The tokens that the policy of the episode read before it acted in the step, put together from what each step appended. */
export function recordedContext({
  origin,
  steps: own,
  step,
}: Pick<ForkedStep, 'origin' | 'steps' | 'step'>): Int32Array {
  const steps = [...origin.steps, ...own];
  const last = origin.steps.length + step;
  let context: Int32Array = new Int32Array(0);
  for (const { keptPrefixTokens, tokenIds } of steps.slice(0, last)) {
    context = concatTokens(context.subarray(0, keptPrefixTokens), tokenIds);
  }
  const { keptPrefixTokens, tokenIds, actionMask } = steps[last];
  const firstAction = actionMask.indexOf(1);
  const prompt = firstAction < 0 ? tokenIds : tokenIds.subarray(0, firstAction);
  return concatTokens(context.subarray(0, keptPrefixTokens), prompt);
}

/** Says where a prompt differs from the context that the episode had at the step; null where they are equal, token by token. */
export function contextDifference(
  point: ForkedStep,
  tokenIds: Int32Array,
  { hash }: Pick<Tokenizer, 'hash'>,
): string | null {
  if (point.steps[point.step].tokenizerHash !== hash) return 'it was recorded with another tokenizer';
  const recorded = recordedContext(point);
  if (recorded.length !== tokenIds.length) {
    return `it has ${tokenIds.length} tokens, and the episode’s had ${recorded.length}`;
  }
  const at = recorded.findIndex((token, place) => token !== tokenIds[place]);
  return at < 0 ? null : `token ${at} is ${tokenIds[at]}, and the episode’s was ${recorded[at]}`;
}
