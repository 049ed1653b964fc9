import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** A TCP proxy that fails on demand: it silences connections, and loses or damages answers. */
export class TcpProxy {
  private readonly server: Server;
  private readonly pairs = new Set<Pair>();
  private target = '';
  /** Receives each answer of the broker; returns the bytes for the client, or null to cut the connection. */
  onAnswer: (bytes: Buffer) => Buffer | null = (bytes) => bytes;

  private constructor(server: Server) {
    this.server = server;
  }

  static async listen(): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => {
      proxy.connect(client);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  forwardTo(target: string): void {
    this.target = target;
  }

  /** Silences the present connections, which stay open; new ones work. */
  silenceConnections(): void {
    for (const { client, upstream } of this.pairs) {
      client.pause();
      upstream.pause();
    }
  }

  async close(): Promise<void> {
    for (const { client, upstream } of this.pairs) {
      client.destroy();
      upstream.destroy();
    }
    await new Promise((resolve) => {
      this.server.close(resolve);
    });
  }

  private connect(client: Socket): void {
    const [host, port] = this.target.split(':');
    const upstream = connect({ host, port: Number(port) });
    const pair = { client, upstream };
    this.pairs.add(pair);
    const end = (): void => {
      this.pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes) => {
      const answer = this.onAnswer(bytes);
      if (answer === null) end();
      else client.write(answer);
    });
  }
}
