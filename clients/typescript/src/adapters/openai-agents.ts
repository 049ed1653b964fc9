import type { Run } from '../run.js';
import type { JsonObject } from '../wire/records.js';
import type { AgentsSpan, AgentsTrace } from './openai-agents-spans.js';
import { type AgentsRecorderOptions, RecordedTrace } from './openai-agents-trace.js';

export type { AgentsRecorderOptions, AgentsStart } from './openai-agents-trace.js';

/** A trace processor of the OpenAI Agents SDK that records. */
export interface AgentsRecorder {
  onTraceStart(trace: AgentsTrace): Promise<void>;
  onTraceEnd(trace: AgentsTrace): Promise<void>;
  onSpanStart(span: AgentsSpan): Promise<void>;
  onSpanEnd(span: AgentsSpan): Promise<void>;
  shutdown(timeout?: number): Promise<void>;
  forceFlush(): Promise<void>;
}

/**
 * Records what the OpenAI Agents SDK does: `addTraceProcessor(recordOpenAiAgents(run))`.
 *
 * Each activation of an agent is an episode and each call of a model a step. The episode of an agent that is called as a tool, or that
 * a handoff goes to, names the one that it came from. An agent that ends with an error is `abandoned`, one that runs out of turns
 * `truncated`.
 */
export function recordOpenAiAgents(run: Run, options: AgentsRecorderOptions = {}): AgentsRecorder {
  const traces = new Map<string, RecordedTrace>();
  const done = Promise.resolve();
  const traceOf = (traceId: string) => {
    const known = traces.get(traceId);
    if (known) return known;
    const added = new RecordedTrace(run, options, {});
    traces.set(traceId, added);
    return added;
  };
  return {
    onTraceStart({ traceId, name, groupId, metadata }) {
      const told = { workflow: name, ...(groupId && { groupId }), ...(metadata as JsonObject | undefined) };
      traces.set(traceId, new RecordedTrace(run, options, told));
      return done;
    },
    onTraceEnd({ traceId }) {
      traces.get(traceId)?.end();
      traces.delete(traceId);
      return done;
    },
    onSpanStart(span) {
      traceOf(span.traceId).begin(span);
      return done;
    },
    onSpanEnd(span) {
      traceOf(span.traceId).finish(span);
      return done;
    },
    shutdown: () => done,
    forceFlush: () => done,
  };
}
