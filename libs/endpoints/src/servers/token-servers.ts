import type { AdapterServerKind, TokenServerKind } from '@retrace/chat';
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
interface TokenServerClients<AdapterDelivery> {
  readonly Engine: Opened<TokenEngine>;
  readonly ModelDelivery: Opened<WeightDelivery>;
  /** Delivers LoRA adapters; null where the kind takes none (`takesAdapters`). */
  readonly AdapterDelivery: AdapterDelivery;
}

const CLIENTS: {
  readonly [Kind in TokenServerKind]: TokenServerClients<
    Kind extends AdapterServerKind ? Opened<WeightDelivery> : null
  >;
} = {
  vllm: { Engine: VllmEngine, ModelDelivery: VllmWeightUpdate, AdapterDelivery: VllmAdapters },
  sglang: { Engine: SglangEngine, ModelDelivery: SglangWeights, AdapterDelivery: null },
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
  const Delivery = (hasAdapters ? AdapterDelivery : null) ?? ModelDelivery;
  return new Delivery(service, options);
}
