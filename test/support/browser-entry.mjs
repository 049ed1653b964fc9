/** All that a page can use of the client, to be bundled. */
export * from '@retrace/client';
export * from '@retrace/client/ai-sdk';
export * from '@retrace/client/langchain';
export * from '@retrace/client/openai-agents';
