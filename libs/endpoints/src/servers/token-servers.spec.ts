import { WEIGHT_SERVER_KINDS, tokenServer } from '@retrace/chat';
import { describe, expect, it } from 'vitest';
import { ServiceClient } from '../http/service-client.js';
import { SglangWeights } from '../weights/sglang-weights.js';
import { VllmAdapters } from '../weights/vllm-adapters.js';
import { VllmWeightUpdate } from '../weights/vllm-weight-update.js';
import { openWeightDelivery } from './token-servers.js';

const SERVICE = new ServiceClient({ url: 'http://127.0.0.1:9', concurrency: 1 });
const open = (kind: (typeof WEIGHT_SERVER_KINDS)[number], hasAdapters: boolean) =>
  openWeightDelivery(kind, SERVICE, { timeoutMs: 1_000, maxRetries: 0, hasAdapters });

describe('openWeightDelivery', () => {
  it.each([
    { kind: 'vllm', hasAdapters: false, Delivery: VllmWeightUpdate },
    { kind: 'vllm', hasAdapters: true, Delivery: VllmAdapters },
    { kind: 'sglang', hasAdapters: false, Delivery: SglangWeights },
    { kind: 'sglang', hasAdapters: true, Delivery: SglangWeights },
  ] as const)('$kind, adapters: $hasAdapters', ({ kind, hasAdapters, Delivery }) => {
    expect(open(kind, hasAdapters)).toBeInstanceOf(Delivery);
  });

  it.each(WEIGHT_SERVER_KINDS)('delivers adapters where %s takes them', (kind) => {
    expect(open(kind, true).form).toBe(tokenServer(kind).takesAdapters ? 'adapter' : 'model');
  });
});
