import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

/** An MCP server with one tool, `weather`, which knows every city but Rome. */
export function weatherServer(): McpServer {
  const server = new McpServer({ name: 'weather-mcp', version: '1.0.0' });
  server.registerTool(
    'weather',
    { description: 'The weather', inputSchema: { city: z.string() } },
    ({ city }) => {
      if (city === 'Rome') throw new Error('no data for Rome');
      return { content: [{ type: 'text', text: `mild in ${city}` }] };
    },
  );
  return server;
}

/** Serves `weatherServer` over MCP's Streamable HTTP on loopback, without sessions. */
export async function startWeatherServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.once('close', () => void transport.close());
  await weatherServer().connect(transport as never);
  await transport.handleRequest(request, response);
}
