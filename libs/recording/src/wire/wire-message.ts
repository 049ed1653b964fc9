import type { Json } from '@retrace/trajectory';

/** A chat message in the shape of OpenAI's chat API; it may have further fields, which are stored, too. */
export type WireMessage = Readonly<{
  role: string;
  /** Text, or parts that each have a type; null or left out = none. */
  content?: string | null | readonly Json[];
  name?: string;
  tool_calls?: readonly WireToolCall[];
  tool_call_id?: string;
  reasoning_content?: string;
}>;

export type WireToolCall = Readonly<{
  id: string;
  type: 'function';
  /** `arguments` is JSON as text, as the model wrote it. */
  function: Readonly<{ name: string; arguments: string }>;
}>;
