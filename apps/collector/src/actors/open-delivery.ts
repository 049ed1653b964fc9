import type { EndpointRecipe, PolicyRecipe } from '@retrace/config';
import {
  SglangWeights,
  VllmAdapters,
  VllmWeightUpdate,
  type EngineOptions,
  type ServiceClient,
  type WeightDelivery,
} from '@retrace/endpoints';

interface DeliveryOptions {
  readonly kind: EndpointRecipe['kind'];
  readonly policy: PolicyRecipe;
  readonly service: ServiceClient;
  readonly engine: EngineOptions;
}

/** How a server that runs gets new weights: as adapters where the policy has them, otherwise as a whole model. */
export function openDelivery({ kind, policy, service, engine }: DeliveryOptions): WeightDelivery {
  if (kind === 'sglang') return new SglangWeights(service, engine);
  const hasAdapters = Boolean(policy.lora) || typeof policy.adapter === 'string';
  return hasAdapters ? new VllmAdapters(service, engine) : new VllmWeightUpdate(service, engine);
}
