import { CHAT_COMPLETIONS, COMPLETIONS, createResponses, MESSAGES, type Protocol } from '@retrace/chat';

/** Purpose of a request. */
export type Route =
  | {
      readonly kind: 'call';
      readonly protocol: Protocol;
      readonly path: string;
      readonly episode: string | null;
    }
  | { readonly kind: 'pass'; readonly path: string }
  | { readonly kind: 'end' | 'reward'; readonly episode: string }
  | { readonly kind: 'health' | 'metrics' };

/** The protocols by their paths. */
export type Protocols = ReadonlyMap<string, Protocol>;

export function createProtocols(): Protocols {
  return new Map([
    ['/v1/chat/completions', CHAT_COMPLETIONS],
    ['/v1/completions', COMPLETIONS],
    ['/v1/responses', createResponses()],
    ['/v1/messages', MESSAGES],
  ]);
}

const EPISODE_PATH = /^\/e\/([^/?]+)(\/[^?]*)(\?.*)?$/;

export function findRoute(method: string, target: string, protocols: Protocols): Route {
  const match = EPISODE_PATH.exec(target);
  const episode = match ? decoded(match[1]) : null;
  const path = match ? `${match[2]}${match[3] ?? ''}` : target;
  const [name] = path.split('?');
  const protocol = protocols.get(name);
  if (method === 'POST' && protocol) return { kind: 'call', protocol, path, episode };
  if (method === 'POST' && episode !== null && (name === '/end' || name === '/reward'))
    return { kind: name === '/end' ? 'end' : 'reward', episode };
  if (method === 'GET' && episode === null && (name === '/health' || name === '/metrics'))
    return { kind: name === '/health' ? 'health' : 'metrics' };
  return { kind: 'pass', path };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
