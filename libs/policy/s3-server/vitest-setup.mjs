import { startS3Server } from './start-s3-server.mjs';

/** Starts the S3 server that the specs share, or tells them why there is none. */
export default async function setup(project) {
  const server = await startS3Server();
  const { endpoint, bucket, bucketDirectory, credentials, unavailable } = server;
  project.provide(
    's3Server',
    unavailable === undefined ? { endpoint, bucket, bucketDirectory, credentials } : { unavailable },
  );
  return () => server.close?.();
}
