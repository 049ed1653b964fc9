import {
  tokenServer,
  type AdapterServerKind,
  type TokenServerKind,
  type WeightServerKind,
} from '@retrace/chat';
import { ServedEngine } from '../generation/served-engine.js';
import type { EngineOptions, TokenEngine } from '../generation/token-engine.js';
import type { ServiceClient } from '../http/service-client.js';
import { SglangWeights } from '../weights/sglang-weights.js';
import { VllmAdapters } from '../weights/vllm-adapters.js';
import { VllmWeightUpdate } from '../weights/vllm-weight-update.js';
import type { WeightDelivery } from '../weights/weight-delivery.js';

type Delivery = new (service: ServiceClient, options: EngineOptions) => WeightDelivery;

/** Deliveries to servers of each kind that takes weights: of whole models, and of LoRA adapters where the kind takes those (`takesAdapters`). */
const DELIVERIES: {
  readonly [Kind in WeightServerKind]: {
    readonly model: Delivery;
    readonly adapter: Kind extends AdapterServerKind ? Delivery : null;
  };
} = {
  vllm: { model: VllmWeightUpdate, adapter: VllmAdapters },
  sglang: { model: SglangWeights, adapter: null },
};

/** Opens the engine of a server, which samples and scores. */
export function openTokenEngine(
  kind: TokenServerKind,
  service: ServiceClient,
  options: EngineOptions,
): TokenEngine {
  return new ServedEngine(tokenServer(kind).api, service, options);
}

interface DeliveredPolicy extends EngineOptions {
  /** Whether the policy has adapters, which are delivered in place of a whole model. */
  readonly hasAdapters: boolean;
}

/** Opens the way by which a server that runs gets new weights. */
export function openWeightDelivery(
  kind: WeightServerKind,
  service: ServiceClient,
  { hasAdapters, ...options }: DeliveredPolicy,
): WeightDelivery {
  const { adapter, model } = DELIVERIES[kind];
  const Opened = (hasAdapters ? adapter : null) ?? model;
  return new Opened(service, options);
}
