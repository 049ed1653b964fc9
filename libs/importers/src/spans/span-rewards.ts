import { isJsonObject } from '@retrace/trajectory';
import { looseJson, looseNumber, looseText } from '../fields.js';
import { indexedEntries } from './indexed-attributes.js';
import type { OtelSpan } from './otel-span.js';
import type { TraceReward } from './trace-node.js';

const AGENT_LIGHTNING = 'agent-lightning';

/** Attributes that hold what an AgentOps span returned; older agent-lightning wrote rewards there. */
const OUTPUT_ATTRIBUTES = ['agentops.task.output', 'agentops.entity.output'];

/**
 * Reads the rewards of a span: those of agent-lightning, of which the first of a span rewards the call before it, and the results of
 * `gen_ai.evaluation.result` events, which reward the span's own call, or the episode.
 */
export function spanRewards(span: OtelSpan, isCall: boolean): readonly TraceReward[] {
  return [...lightningRewards(span), ...evaluations(span, isCall)];
}

function lightningRewards({ spanId, attributes }: OtelSpan): TraceReward[] {
  const values = indexedEntries(attributes, 'agentlightning.reward').flatMap(({ name, value }) => {
    const number = looseNumber(value);
    return number === undefined ? [] : [{ name: looseText(name) ?? 'reward', value: number }];
  });
  for (const name of OUTPUT_ATTRIBUTES) {
    const output = looseJson(attributes[name]);
    const value = isJsonObject(output) && output.type === 'reward' ? looseNumber(output.value) : undefined;
    if (values.length === 0 && value !== undefined) values.push({ name: 'reward', value });
  }
  const old = looseNumber(attributes.reward);
  if (values.length === 0 && old !== undefined) values.push({ name: 'reward', value: old });
  return values.map(({ name, value }, index) => ({
    id: `${spanId}/${name}`,
    name,
    value,
    source: AGENT_LIGHTNING,
    rationale: '',
    of: index === 0 ? 'preceding-call' : 'episode',
  }));
}

function evaluations({ spanId, events }: OtelSpan, isCall: boolean): TraceReward[] {
  return events.flatMap(({ name, attributes }, index): TraceReward[] => {
    const value = looseNumber(attributes['gen_ai.evaluation.score.value']);
    if (name !== 'gen_ai.evaluation.result' || value === undefined) return [];
    const label = looseText(attributes['gen_ai.evaluation.score.label']);
    const explanation = looseText(attributes['gen_ai.evaluation.explanation']);
    return [
      {
        id: `${spanId}/evaluation-${index}`,
        name: looseText(attributes['gen_ai.evaluation.name']) ?? 'evaluation',
        value,
        source: 'gen_ai.evaluation',
        rationale: [label, explanation].filter((text) => text !== undefined).join(': '),
        of: isCall ? 'own-call' : 'episode',
      },
    ];
  });
}
