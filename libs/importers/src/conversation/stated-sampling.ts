import type { WireStep } from '@retrace/recording';
import { known, looseNumber } from '../fields.js';

type StatedSampling = Readonly<Record<'temperature' | 'topK' | 'topP' | 'maxNewTokens', unknown>>;

/** Reads sampling parameters, as numbers or texts; null unless the temperature is known. */
export function statedSampling(stated: StatedSampling): WireStep['sampling'] | null {
  const temperature = looseNumber(stated.temperature);
  if (temperature === undefined) return null;
  return known({
    temperature,
    topK: looseNumber(stated.topK),
    topP: looseNumber(stated.topP),
    maxNewTokens: looseNumber(stated.maxNewTokens),
  });
}
