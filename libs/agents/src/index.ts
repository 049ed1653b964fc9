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
export { parseReAct, reActAction, type ReActReply } from './react/parse-react.js';
