import type { TokenServerKind } from '@retrace/chat';
import { SglangEngine } from '../generation/sglang-engine.js';
import type { EngineOptions, TokenEngine } from '../generation/token-engine.js';
import { VllmEngine } from '../generation/vllm-engine.js';
import type { ServiceClient } from '../http/service-client.js';
import { SglangWeights } from '../weights/sglang-weights.js';
import { VllmAdapters } from '../weights/vllm-adapters.js';
import { VllmWeightUpdate } from '../weights/vllm-weight-update.js';
import type { WeightDelivery } from '../weights/weight-delivery.js';

type Opened<Client> = new (service: ServiceClient, options: EngineOptions) => Client;

/** Clients of one kind of server. */
interface TokenServerClients {
  readonly Engine: Opened<TokenEngine>;
  readonly ModelDelivery: Opened<WeightDelivery>;
  /** Delivers LoRA adapters; the delivery of whole models where the kind takes none. */
  readonly AdapterDelivery: Opened<WeightDelivery>;
}

const CLIENTS: Readonly<Record<TokenServerKind, TokenServerClients>> = {
  vllm: { Engine: VllmEngine, ModelDelivery: VllmWeightUpdate, AdapterDelivery: VllmAdapters },
  sglang: { Engine: SglangEngine, ModelDelivery: SglangWeights, AdapterDelivery: SglangWeights },
};

/** Opens the engine of a server, which samples and scores. */
export function openTokenEngine(
  kind: TokenServerKind,
  service: ServiceClient,
  options: EngineOptions,
): TokenEngine {
  return new CLIENTS[kind].Engine(service, options);
}

interface DeliveredPolicy extends EngineOptions {
  /** Whether the policy has adapters, which are delivered in place of a whole model. */
  readonly hasAdapters: boolean;
}

/** Opens the way by which a server that runs gets new weights. */
export function openWeightDelivery(
  kind: TokenServerKind,
  service: ServiceClient,
  { hasAdapters, ...options }: DeliveredPolicy,
): WeightDelivery {
  const { AdapterDelivery, ModelDelivery } = CLIENTS[kind];
  return hasAdapters ? new AdapterDelivery(service, options) : new ModelDelivery(service, options);
}
