import type { EndFields, Episode, EpisodeOptions } from '../episode.js';
import type { Run } from '../run.js';
import type { JsonObject } from '../wire/records.js';
import { readDuration, generationCall, responseCall } from './openai-agents-calls.js';
import type { AgentsSpan } from './openai-agents-spans.js';
import { RecordedAgent } from './recorded-agent.js';

/** An agent that begins. */
export interface AgentsStart {
  readonly traceId: string;
  readonly spanId: string;
  readonly agentName: string;
}

export interface AgentsRecorderOptions {
  /** Tags, task, group and so on of the episode that begins. */
  readonly describe?: (start: AgentsStart) => EpisodeOptions;
  /** Receives each episode as it begins, to reward it later. */
  readonly onEpisode?: (episode: Episode, start: AgentsStart) => void;
}

/** One trace: its spans by id, and the agents among them. */
export class RecordedTrace {
  private readonly parents = new Map<string, string | null>();
  private readonly agents = new Map<string, RecordedAgent>();
  /** Episodes that handed over, by the agent that they handed over to. */
  private readonly handoffs = new Map<string, RecordedAgent>();
  private readonly handedOver = new Map<RecordedAgent, string>();

  constructor(
    private readonly run: Run,
    private readonly options: AgentsRecorderOptions,
    private readonly metadata: JsonObject,
  ) {}

  begin({ traceId, spanId, parentId, spanData }: AgentsSpan): void {
    this.parents.set(spanId, parentId);
    if (spanData.type !== 'agent') return;
    const agentName = spanData.name ?? 'agent';
    const from = this.handoffs.get(agentName) ?? this.agentAbove(parentId);
    this.handoffs.delete(agentName);
    const start = { traceId, spanId, agentName };
    const agent = new RecordedAgent(this.run, {
      agent: agentName,
      externalId: `${traceId}/${spanId}`,
      metadata: { traceId, ...this.metadata },
      ...(from && { parentEpisode: from.episode.id }),
      ...this.options.describe?.(start),
    });
    this.agents.set(spanId, agent);
    this.options.onEpisode?.(agent.episode, start);
  }

  finish(span: AgentsSpan): void {
    const { spanData, error } = span;
    const agent = this.agentAbove(span.spanId);
    if (!agent) return;
    switch (spanData.type) {
      case 'agent':
        agent.end(toEnd(error, this.handedOver.get(agent)));
        break;
      case 'response':
        if (spanData._response) agent.modelAnswered(responseCall(span, spanData._response));
        else if (error) agent.modelAnswered({ ...responseCall(span, {}), ...failureOf(error) });
        break;
      case 'generation':
        if (spanData.output !== undefined) agent.modelAnswered(generationCall(span));
        else if (error) agent.modelAnswered({ ...generationCall(span), ...failureOf(error) });
        break;
      case 'function':
        agent.toolEnded(toolRun(span), typeof spanData.output === 'string' ? spanData.output : '');
        break;
      case 'handoff':
        if (spanData.to_agent === undefined) break;
        this.handoffs.set(spanData.to_agent, agent);
        this.handedOver.set(agent, spanData.to_agent);
    }
  }

  end(): void {
    for (const agent of this.agents.values()) {
      agent.end({ endReason: 'abandoned', detail: 'the trace ended before the agent' });
    }
  }

  /** The agent of a span, or of the nearest span above it. */
  private agentAbove(spanId: string | null): RecordedAgent | undefined {
    for (let id = spanId; id !== null; id = this.parents.get(id) ?? null) {
      const agent = this.agents.get(id);
      if (agent) return agent;
    }
    return undefined;
  }
}

function toolRun(span: AgentsSpan): Parameters<RecordedAgent['toolEnded']>[0] {
  const { name = 'tool', mcp_data } = span.spanData;
  const server = (mcp_data as { readonly server?: unknown } | undefined)?.server;
  return {
    name,
    ms: readDuration(span).generationMs ?? 0,
    ...(span.error && { error: errorDetail(span.error) }),
    ...(typeof server === 'string' && { mcpServer: server }),
  };
}

function toEnd(error: AgentsSpan['error'], handedOverTo: string | undefined): EndFields {
  if (error) {
    const detail = errorDetail(error);
    return { endReason: /max turns/i.test(detail) ? 'truncated' : 'abandoned', detail };
  }
  return handedOverTo === undefined
    ? { endReason: 'terminated' }
    : { endReason: 'terminated', detail: `handed off to ${handedOverTo}` };
}

const failureOf = (error: NonNullable<AgentsSpan['error']>) => ({ output: null, error: errorDetail(error) });

function errorDetail({ message, data }: NonNullable<AgentsSpan['error']>): string {
  const told = data?.error;
  return typeof told === 'string' && told !== message ? `${message}: ${told}` : message;
}
