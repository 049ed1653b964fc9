import { join } from 'node:path';
import { ApiConnection, Sender, SpoolQueue, type RetraceError } from '@retrace/client';
import type { FileLock } from '@retrace/spool/file-lock';
import { GatewayError } from '../http/gateway-error.js';
import type { RunningGateway } from '../http/gateway-server.js';
import type { OpenTokenizer, ProxyConfig } from './proxy-config.js';
import { CallRecorder } from './record/call-recorder.js';
import { Journal } from './record/journal.js';
import { RunNames } from './record/run-names.js';
import { holdStateDirectory } from './record/state-lock.js';
import { ProxyMetrics } from './server/proxy-metrics.js';
import { ProxyRoutes } from './server/proxy-routes.js';
import { upstreamAddress } from './upstream/address.js';
import { createTokenizerFinder, type GivenTokenizer } from './upstream/find-tokenizer.js';
import { KindDetector } from './upstream/upstream-kind.js';
import { Upstream } from './upstream/upstream.js';

/**
 * A proxy that runs. Its `url` is the address for agents, without `/v1`; `close` also sends what waits for a moment, and the next process
 * what was not sent.
 */
export type RunningProxy = RunningGateway;

interface ProxyHooks {
  readonly warn: (message: string) => void;
  /** None: tokenizers are known only as far as servers tell. */
  readonly openTokenizer?: OpenTokenizer;
}

const SWEEP_MS = 15_000;
const CLOSE_MS = 5_000;

/**
 * Starts a proxy that records what passes through it.
 *
 * @throws GatewayError when it can't start; a Retrace or an upstream that can't be reached is no reason
 */
export async function startProxy(config: ProxyConfig, hooks: ProxyHooks): Promise<RunningProxy> {
  const { openTokenizer: open = noTokenizer } = hooks;
  const upstream = new Upstream(config.upstream, config.upstreamTimeoutMs);
  const connection = openConnection(config);
  const given = await givenTokenizer(config.tokenizer, open);
  const hold = await holdStateDirectory(config.stateDirectory);
  try {
    return await startHolding({ hold, upstream, connection, given, open, config, warn: hooks.warn });
  } catch (error) {
    hold.release();
    throw error;
  }
}

interface HoldingParts extends Pick<ProxyHooks, 'warn'> {
  readonly config: ProxyConfig;
  readonly hold: FileLock;
  readonly upstream: Upstream;
  readonly connection: ApiConnection;
  readonly given: GivenTokenizer | null;
  readonly open: OpenTokenizer;
}

/** Starts it in a state directory that this process holds. */
async function startHolding({
  config,
  hold,
  upstream,
  connection,
  given,
  open,
  warn,
}: HoldingParts): Promise<RunningProxy> {
  const once = warnOnce(warn);
  const onError = ({ code, message }: RetraceError) => {
    once(code, `Retrace: ${message}`);
  };
  const spool = new SpoolQueue({ directory: join(config.stateDirectory, 'spool') }, onError);
  const sender = new Sender(spool, connection, { onError });
  const { journal, lines } = await Journal.open(config.stateDirectory, (error) => {
    once('JOURNAL', `The journal can't be used: ${describeError(error)}`);
  });
  const runs = await RunNames.open(config.stateDirectory, sender);
  const recorder = new CallRecorder({ sender, spool, journal });
  runs.idOf(config.run);
  recorder.restore(lines);
  void recorder.compact();
  sender.start();
  const findTokenizer = createTokenizerFinder({ upstream, key: config.upstreamKey, given, open, warn });
  const detector = new KindDetector(upstream, { given: config.upstreamKind, findTokenizer });
  detector.start();
  const metrics = new ProxyMetrics(sender, recorder);
  const parts = { config, upstream, detector, recorder, runs, metrics, warn };
  const sweep = setInterval(
    () => {
      recorder.endIdle(Date.now() - config.idleMs, `no call for ${config.idleMs / 60_000} minutes`);
      recorder.tidy();
    },
    Math.min(SWEEP_MS, config.idleMs),
  );
  sweep.unref();
  return new ProxyRoutes(parts, sender).server().listen(async () => {
    clearInterval(sweep);
    upstream.close();
    await recorder.compact();
    await journal.close();
    await sender.close(CLOSE_MS);
    hold.release();
  });
}

const noTokenizer: OpenTokenizer = () => Promise.reject(new Error('no tokenizer can be opened here'));

/** @throws GatewayError `OPTION_INVALID` */
async function givenTokenizer(path: string | undefined, open: OpenTokenizer): Promise<GivenTokenizer | null> {
  if (path === undefined) return null;
  try {
    return { path, tokenizer: await open(path) };
  } catch (cause) {
    throw new GatewayError('OPTION_INVALID', `--tokenizer ${path}: ${describeError(cause)}`, { cause });
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function openConnection({ retraceUrl, retraceKey }: ProxyConfig): ApiConnection {
  const url = upstreamAddress('--retrace', retraceUrl, {
    example: 'http://127.0.0.1:8787',
    keyOption: '--retrace-key-env',
  });
  return new ApiConnection({ url: url.href, ...(retraceKey !== null && { apiKey: retraceKey }) });
}

/** Warns of the first error of each kind, so that a server that is unavailable does not fill the terminal. */
function warnOnce(warn: (message: string) => void): (kind: string, message: string) => void {
  const warned = new Set<string>();
  return (kind, message) => {
    if (warned.has(kind)) return;
    warned.add(kind);
    warn(`${message} (further errors of this kind are only counted)`);
  };
}
