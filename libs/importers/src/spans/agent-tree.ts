import type { TraceNode } from './trace-node.js';

/** Ancestors that are looked through; a parent pointer of a damaged trace may lead in a circle. */
const MAX_DEPTH = 1000;

/** Who called whom in a trace. */
export class AgentTree {
  private readonly nodes: ReadonlyMap<string, TraceNode>;
  /** The node without a parent in the trace: the earliest, if there are several; one without any parent before one whose parent is lost. */
  readonly root: TraceNode | null;

  constructor(ordered: readonly TraceNode[]) {
    this.nodes = new Map(ordered.map((node) => [node.id, node]));
    const isRoot = (node: TraceNode) =>
      node.parentId === null && node.kind !== 'call' && node.kind !== 'tool';
    this.root = ordered.find(isRoot) ?? ordered.find((node) => node.parentId === null) ?? null;
  }

  /** The nearest agent around a node that was itself called by an agent; null where that is the outermost agent, or none. */
  subagentOf(node: TraceNode): TraceNode | null {
    const agents = this.agentsAround(node);
    return agents.length > 1 ? agents[0] : null;
  }

  /** The sub-agent that called this one; null where the outermost agent did. */
  callerOf(agent: TraceNode): TraceNode | null {
    const [, ...callers] = this.agentsAround(agent);
    return callers.length > 1 ? callers[0] : null;
  }

  /** The agents around a node, itself included, innermost first. */
  private agentsAround(node: TraceNode): TraceNode[] {
    const agents: TraceNode[] = [];
    const seen = new Set<string>();
    let at: TraceNode | undefined = node;
    while (at !== undefined && !seen.has(at.id) && seen.size < MAX_DEPTH) {
      seen.add(at.id);
      if (at.kind === 'agent') agents.push(at);
      at = at.parentId === null ? undefined : this.nodes.get(at.parentId);
    }
    return agents;
  }
}
