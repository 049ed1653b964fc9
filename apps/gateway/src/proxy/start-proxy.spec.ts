import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileLock } from '@retrace/spool/file-lock';
import { expect, it } from 'vitest';
import type { ProxyConfig } from './proxy-config.js';
import { startProxy } from './start-proxy.js';

it('a proxy that cannot read its journal leaves the state directory to the next one', async () => {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'retrace-start-proxy-'));
  mkdirSync(join(stateDirectory, 'journal'));
  writeFileSync(join(stateDirectory, 'journal', '0000000001.spool'), 'x'.repeat(100));
  const config = {
    ...{ upstream: 'http://127.0.0.1:9', upstreamTimeoutMs: 9_000, retraceUrl: 'http://127.0.0.1:9' },
    ...{ retraceKey: null, stateDirectory },
  } as ProxyConfig;
  await expect(startProxy(config, { warn: () => undefined })).rejects.toThrow('is not a spool file');
  expect(FileLock.isHeld(join(stateDirectory, 'proxy.lock'))).toBe(false);
  rmSync(stateDirectory, { recursive: true });
});
