import { describe, expect, it } from 'vitest';
import { CheckpointFiles } from '../checkpoint-files.js';
import { checkpointsAt } from './checkpoints-at.js';
import { RemoteCheckpointFiles } from './remote-checkpoint-files.js';

describe('checkpointsAt', () => {
  it('keeps files in the directory, or in the storage that is named', () => {
    expect(checkpointsAt({ directory: 'd', storage: null }).constructor).toBe(CheckpointFiles);
    const storage = { url: 's3://bucket/a/b' };
    expect(checkpointsAt({ directory: 'd', storage })).toBeInstanceOf(RemoteCheckpointFiles);
  });

  it.each(['s3://', 's3:/bucket', 's3://Bucket', 'gs://bucket', 's3://-a', '/mnt/s3'])(
    'refuses %s',
    (url) => {
      expect(() => checkpointsAt({ directory: 'd', storage: { url } })).toThrow(
        `checkpoint storage "${url}": must be s3://bucket or s3://bucket/prefix`,
      );
    },
  );
});
