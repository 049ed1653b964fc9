import { startBroker } from './start-broker.mjs';

/** Starts the broker that the Kafka specs share, or tells them why there is none. */
export default async function setup(project) {
  const broker = await startBroker();
  project.provide('kafkaBroker', broker.addresses ?? broker);
  return () => broker.close?.();
}
