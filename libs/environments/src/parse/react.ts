/** A reply in ReAct form, `Thought: … Action: …` (arXiv:2210.03629). */
export interface ReActReply {
  /** Text before the action, without the `Thought:` label; '' when there is none. */
  readonly thought: string;
  /** Text after the action label, trimmed; '' when invalid. */
  readonly action: string;
  /** False when there is no action label, nothing after it, or (unless `last` is asked for) more than one. */
  readonly actionValid: boolean;
}

export interface ReActOptions {
  /** What to do with several `Action:` labels: call the reply invalid, or take the last. Default `invalid`. */
  readonly severalActions?: 'invalid' | 'last';
  /** `line`: the action ends at the end of its line; `rest`: it is all that follows. Default `line`. */
  readonly extent?: 'line' | 'rest';
}

const ACTION_LABEL = 'Action:';
const THOUGHT_LABEL = 'Thought:';

/** Splits a ReAct reply into thought and action. Labels are case-sensitive. Never throws: a bad reply is a value. */
export function parseReAct(text: string, options: ReActOptions = {}): ReActReply {
  const { severalActions = 'invalid', extent = 'line' } = options;
  const last = text.lastIndexOf(ACTION_LABEL);
  if (last === -1) return { thought: stripThought(text), action: '', actionValid: false };
  const thought = stripThought(text.slice(0, last));
  const several = text.indexOf(ACTION_LABEL) !== last;
  if (several && severalActions === 'invalid') return { thought, action: '', actionValid: false };
  const rest = text.slice(last + ACTION_LABEL.length).trimStart();
  const lineEnd = rest.indexOf('\n');
  const action = (extent === 'line' && lineEnd !== -1 ? rest.slice(0, lineEnd) : rest).trim();
  return { thought, action, actionValid: action !== '' };
}

function stripThought(text: string): string {
  const start = text.indexOf(THOUGHT_LABEL);
  return (start === -1 ? text : text.slice(start + THOUGHT_LABEL.length)).trim();
}
