import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { GatewayError, startProxy, type LocalTokenizer, type ProxyConfig } from '@retrace/gateway/proxy';
import type { CommonOptions } from '../../options.js';
import { listenForStop } from '../../server/stop-requests.js';
import { createLogStream } from '../../supervisor/log-stream.js';

/** Options of the model server. */
export interface UpstreamOptions {
  readonly upstream: string;
  readonly upstreamKind?: NonNullable<ProxyConfig['upstreamKind']>;
  readonly upstreamKeyEnv?: string;
  readonly upstreamTimeout: number;
  readonly logprobMode?: 'raw' | 'processed';
  readonly neutralSampling?: boolean;
  readonly tokenizer?: string;
}

interface ProxyOptions extends CommonOptions, UpstreamOptions {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly retrace: string;
  readonly retraceKeyEnv: string;
  readonly run: string;
  readonly state?: string;
  readonly idleMinutes: number;
  readonly maxBodyMib: number;
}

const FORCED_EXIT_CODE = 130;

/** Runs a proxy until asked to stop. */
export async function serveProxy(options: ProxyOptions): Promise<void> {
  const log = createLogStream({ json: options.json === true, out: process.stdout });
  const config = proxyConfig(options, process.env);
  const stop = listenForStop(log, () => process.exit(FORCED_EXIT_CODE));
  const write = (level: 'info' | 'warn', message: string) => {
    log.write({ role: 'proxy', level, message });
  };
  const proxy = await startProxy(config, {
    warn: (message) => {
      write('warn', message);
    },
    openTokenizer,
  });
  write('info', `recording calls of ${config.upstream} at ${proxy.url}/v1, run "${config.run}"`);
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
  await proxy.close();
  stop.dispose();
}

type UpstreamConfig = Pick<
  ProxyConfig,
  | 'upstream'
  | 'upstreamKind'
  | 'upstreamKey'
  | 'upstreamTimeoutMs'
  | 'logprobMode'
  | 'neutralSampling'
  | 'tokenizer'
>;

/** @throws GatewayError `OPTION_INVALID` when a variable for a key is named that is not set */
export function upstreamConfig(options: UpstreamOptions, environment: NodeJS.ProcessEnv): UpstreamConfig {
  const { upstreamKeyEnv } = options;
  const upstreamKey = upstreamKeyEnv === undefined ? null : (environment[upstreamKeyEnv] ?? '');
  if (upstreamKey === '') {
    throw new GatewayError('OPTION_INVALID', `--upstream-key-env: the variable ${upstreamKeyEnv} is not set`);
  }
  return {
    upstream: options.upstream,
    upstreamKind: options.upstreamKind ?? null,
    upstreamKey,
    upstreamTimeoutMs: Math.round(options.upstreamTimeout * 1000),
    logprobMode: options.logprobMode ?? null,
    neutralSampling: options.neutralSampling === true,
    ...(options.tokenizer !== undefined && { tokenizer: options.tokenizer }),
  };
}

/** @throws GatewayError `OPTION_INVALID` */
function proxyConfig(options: ProxyOptions, environment: NodeJS.ProcessEnv): ProxyConfig {
  return {
    ...upstreamConfig(options, environment),
    host: options.host,
    port: options.port,
    allowedHosts: options.allowedHosts,
    retraceUrl: options.retrace,
    retraceKey: environment[options.retraceKeyEnv] ?? null,
    run: options.run,
    stateDirectory: options.state ?? join(options.dataDir, 'proxy'),
    idleMs: Math.round(options.idleMinutes * 60_000),
    maxBodyBytes: Math.round(options.maxBodyMib * 1024 ** 2),
  };
}

/** @throws PolicyError when the path is no directory of a model, or no tokenizer in one */
export async function openTokenizer(path: string): Promise<LocalTokenizer> {
  // Most proxies need no tokenizer, and none of them its policy.
  const { loadPolicyText } = await import('@retrace/policy');
  const directory = path.endsWith('.json') ? dirname(path) : path;
  const { tokenizer } = await loadPolicyText(directory, { useChatTemplate: false });
  return { hash: tokenizer.hash, encode: (text) => [...tokenizer.encode(text)] };
}
