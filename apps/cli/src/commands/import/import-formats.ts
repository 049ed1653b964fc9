/** Names that `--format` takes. The formats themselves are loaded only when one is read. */
export const IMPORT_FORMATS = [
  'run-file',
  'otlp',
  'atif',
  'agent-lightning',
  'agent-lightning-events',
  'langfuse',
  'verl',
  'agentgym',
  'sharegpt',
  'openai-chat',
] as const;

export type ImportFormatName = (typeof IMPORT_FORMATS)[number];
