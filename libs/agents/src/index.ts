export type {
  ActionFormat,
  ActionFormatOptions,
  ParseContext,
  ParsedTurn,
  ToolCall,
  ToolSchema,
  WrittenTurn,
} from './action-format.js';
export { AgentFormatError, type AgentFormatErrorCode } from './errors.js';
export { actionFormat, listActionFormats } from './registry.js';
export { customFormat, type CustomFormatSpec, type CustomParsedTurn } from './custom-format.js';
export { writtenToolCalls } from './formats/tool-call.js';
export { parseReAct, reActAction, type ReActReply } from './react/parse-react.js';
export {
  agentTemplates,
  HISTORY_POLICIES,
  PROMPT_PLACEHOLDERS,
  SYSTEM_PLACEHOLDERS,
  type AgentTemplates,
  type HistoryPolicy,
  type PromptValues,
  type ShownTurn,
  type TemplateSources,
} from './prompts/agent-templates.js';
export { PromptTemplate } from './prompts/prompt-template.js';
export type {
  AgentDecision,
  AgentMessage,
  AgentModel,
  AgentView,
  AskOptions,
  CustomAgent,
  CustomAgentSpec,
} from './custom-agent.js';
