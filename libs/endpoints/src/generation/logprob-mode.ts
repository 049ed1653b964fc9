import type { LogprobMode } from '@retrace/chat';
import { EndpointError } from '../endpoint-error.js';
import type { TokenEngine } from './token-engine.js';

/** Far from 1, so that both distributions differ clearly. */
const PROBE_TEMPERATURE = 0.5;
const NUM_TOKENS = 5;
/** Log-probabilities of one distribution, computed twice, agree to this; the model's and those at temperature 0.5 do not. */
const TOLERANCE = 1e-3;

/**
 * Finds out of which distribution a server gives logprobs, by asking for the likeliest tokens at two temperatures. No server says it: vLLM has
 * a flag (`--logprobs-mode`, default raw), SGLang a variable (`SGLANG_RETURN_ORIGINAL_LOGPROB`, default processed).
 *
 * At T = 0.5 the differences between logprobs double: log pᵢ(T) − log pⱼ(T) = (log pᵢ − log pⱼ)/T. Raw logprobs keep theirs.
 *
 * @param contexts several, since one may be uniform or certain, which tells nothing
 * @throws EndpointError `UNSUPPORTED` when no context tells it
 */
export async function findLogprobMode(
  engine: TokenEngine,
  model: string,
  contexts: readonly (readonly number[])[],
): Promise<LogprobMode> {
  for (const tokenIds of contexts) {
    const ask = { tokenIds, model, numTokens: NUM_TOKENS };
    const plain = await engine.likeliest({ ...ask, temperature: 1 });
    const sharp = await engine.likeliest({ ...ask, temperature: PROBE_TEMPERATURE });
    const shared = [...plain.keys()].filter((token) => sharp.has(token));
    const spread = computeSpread(plain, shared);
    const change = Math.abs(computeSpread(sharp, shared) - spread);
    if (spread < TOLERANCE * 10) continue;
    return change < spread / 2 ? 'raw' : 'processed';
  }
  const asked = `${contexts.length} contexts`;
  const message = `the server's logprobs of ${asked} are the same for all tokens, so they do not show whether they are raw or processed`;
  throw new EndpointError('UNSUPPORTED', message);
}

function computeSpread(logprobs: ReadonlyMap<string, number>, tokens: readonly string[]): number {
  const values = tokens.map((token) => logprobs.get(token) ?? 0);
  return values.length === 0 ? 0 : Math.max(...values) - Math.min(...values);
}
