import type { AgentDecision, AgentMessage } from '@retrace/agents';

const ROLES = ['system', 'user', 'assistant'];
const MAX_ACTIONS = 100;

/** Reads what an agent of the user's decided. @throws Error naming the field, its value and the rule */
export function checkedDecision(decision: unknown): AgentDecision {
  if (typeof decision === 'string') return { actions: [decision] };
  const { actions, isValid } = (decision ?? {}) as { readonly actions?: unknown; readonly isValid?: unknown };
  if (!Array.isArray(actions) || !actions.every((action) => typeof action === 'string')) {
    throw new Error('act must return a text, or { actions } with a list of texts');
  }
  if (actions.length > MAX_ACTIONS) {
    throw new Error(`act returned ${actions.length} actions, must be at most ${MAX_ACTIONS}`);
  }
  if (isValid !== undefined && typeof isValid !== 'boolean') throw new Error('isValid must be true or false');
  return { actions, isValid };
}

/** Reads the messages of a call. @throws Error naming the message and the rule */
export function checkedMessages(messages: unknown): readonly AgentMessage[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw new Error('messages must be a list of at least one');
  return messages.map((message: Partial<AgentMessage> | null, i) => {
    const { role, content } = message ?? {};
    if (role === undefined || !ROLES.includes(role) || typeof content !== 'string') {
      throw new Error(`messages[${i}] must have a role (${ROLES.join(', ')}) and a content as text`);
    }
    return { role, content };
  });
}
