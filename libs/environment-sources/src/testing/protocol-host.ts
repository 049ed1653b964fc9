import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Environment, EnvironmentSpec } from '@retrace/environments';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Request } from '../protocol/messages.js';

/** Deed of a host instead of its answer. */
type Fault = 'otherId' | 'noJson' | 'noObject' | 'otherType' | 'hangUp' | null;

/** Hosts a built-in environment on Retrace's protocol, on a free port; a fault can be set for the next steps. */
export class ProtocolHost {
  fault: Fault = null;
  numConnections = 0;
  readonly episodes = new Map<string, Environment>();
  private readonly http: Server;
  private readonly sockets: WebSocketServer;

  private constructor(private readonly spec: EnvironmentSpec) {
    this.http = createServer((_, response) => response.end('{"status":"ok"}'));
    this.sockets = new WebSocketServer({ server: this.http, path: '/ws' });
    this.sockets.on('connection', (socket) => {
      this.numConnections += 1;
      socket.on('message', (data: Buffer) => {
        void this.take(socket, JSON.parse(data.toString()) as Request & { id: number });
      });
    });
  }

  static async start(spec: EnvironmentSpec): Promise<ProtocolHost> {
    const host = new ProtocolHost(spec);
    await new Promise<void>((resolve) => host.http.listen(0, '127.0.0.1', resolve));
    return host;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async take(socket: WebSocket, request: Request & { readonly id: number }): Promise<void> {
    const { id } = request;
    const fault = request.type === 'step' ? this.fault : null;
    if (fault === 'hangUp') {
      socket.terminate();
      return;
    }
    if (fault === 'noJson' || fault === 'noObject') {
      socket.send(fault === 'noJson' ? '<html>' : 'null');
      return;
    }
    const answer = await this.answer(request).catch((error: unknown) => ({
      type: 'error',
      code: 'ENVIRONMENT_FAILED',
      message: (error as Error).message,
    }));
    const sent = fault === 'otherType' ? { type: 'closed' } : answer;
    socket.send(JSON.stringify({ id: fault === 'otherId' ? id + 1000 : id, ...sent }));
  }

  private async answer(request: Request): Promise<object> {
    if (request.type === 'hello') {
      const { name, description, maxSteps, offersAnchors } = this.spec;
      const lists = { families: [], actions: this.spec.actionWords };
      return {
        type: 'hello',
        protocol: 1,
        name,
        description,
        maxSteps,
        numTasks: null,
        offersAnchors,
        ...lists,
      };
    }
    const environment = this.episodes.get(request.episode) ?? this.spec.create();
    this.episodes.set(request.episode, environment);
    switch (request.type) {
      case 'reset': {
        // Its own task of the split that the client asked for.
        const { split } = request.task as { readonly split: 'train' };
        const sampled = this.spec.sampleTask({ split, index: 0, seed: request.seed });
        return {
          type: 'observation',
          observation: await environment.reset({ ...sampled, member: request.member }),
        };
      }
      case 'step':
        return { type: 'result', result: await environment.step(request.action) };
      case 'close':
        this.episodes.delete(request.episode);
        return { type: 'closed' };
    }
  }
}
