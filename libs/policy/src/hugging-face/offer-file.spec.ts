import { openBackend } from '@retrace/compute';
import { temporaryDirectory } from '@retrace/compute/testing';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CheckpointFiles, type WrittenFile } from '../checkpoints/checkpoint-files.js';
import { Transformer } from '../model/transformer.js';
import { TINY_CONFIG } from '../testing/tiny-config.js';
import { OfferFile, WatchedOffers } from './offer-file.js';
import { policyCheckpointContent } from './policy-checkpoint.js';

const RUN = 'run';
const bucket = { url: 's3://bucket' };

describe('an offer to another process', () => {
  let directory: string;
  let files: CheckpointFiles;
  let offers: WatchedOffers;
  beforeAll(async () => {
    await openBackend({ prefer: ['cpu'] });
  });
  beforeEach(async () => {
    directory = await temporaryDirectory();
    files = new CheckpointFiles(directory);
    offers = await watch(RUN);
  });
  afterEach(() => {
    offers.close();
  });

  const watch = async (runId: string) => {
    const watched = await WatchedOffers.open({ directory, storage: null }, runId);
    if (!watched) throw new Error('the directory is not watched');
    return watched;
  };
  const announce = async (policyVersion: number, weights: WrittenFile) => {
    const offered = new Promise<void>((resolve) => {
      offers.nextOffer(new AbortController().signal).addEventListener('abort', () => {
        resolve();
      });
    });
    await OfferFile.at({ directory, storage: null }, RUN)?.announce({ policyVersion, weights });
    await offered;
  };
  const written = async (model: Transformer) => {
    const ref = await files.write(policyCheckpointContent(model, { tokenizerHash: 'hash', base: null }));
    return { ...ref, name: null };
  };

  it('makes a new model, and a model that is there, the policy on offer', async () => {
    const [first, second] = [Transformer.initialize(TINY_CONFIG, 1), Transformer.initialize(TINY_CONFIG, 2)];
    await announce(3, await written(first));
    expect(offers.version).toBe(3);
    const taken = await offers.take(3, null);
    expect(await taken?.exportTensors()).toEqual(await first.exportTensors());
    await announce(4, await written(second));
    expect(await offers.take(3, taken)).toBeNull();
    expect(await offers.take(4, taken)).toBe(taken);
    expect(await taken?.exportTensors()).toEqual(await second.exportTensors());
  });

  it('is the published policy only where the weights are the same', async () => {
    const weights = await written(Transformer.initialize(TINY_CONFIG, 1));
    await announce(3, weights);
    expect(offers.has({ policyVersion: 3, weights })).toBe(true);
    expect(offers.has({ policyVersion: 4, weights })).toBe(false);
    expect(offers.has({ policyVersion: 3, weights: { ...weights, sha256: '0'.repeat(64) } })).toBe(false);
  });

  it('is withdrawn where its file is gone', async () => {
    const weights = await written(Transformer.initialize(TINY_CONFIG, 1));
    await announce(3, weights);
    await files.remove(weights.sha256);
    expect(await offers.take(3, null)).toBeNull();
    expect(offers.version).toBe(-1);
  });

  it('is none where it makes no sense, and one that can not be read ends nobody', async () => {
    const path = join(directory, 'offers', `${RUN}.json`);
    await writeFile(path, JSON.stringify({ policyVersion: 2 }));
    expect((await watch(RUN)).version).toBe(-1);
    const name = '00000000-0000-0000-0000-000000000000.partial';
    await mkdir(join(directory, name));
    await announce(3, { sha256: '0'.repeat(64), sizeBytes: 1, name });
    expect(await offers.take(3, null)).toBeNull();
  });

  it('gives one signal until the next offer', async () => {
    const { signal } = new AbortController();
    const first = offers.nextOffer(signal);
    expect(offers.nextOffer(signal)).toBe(first);
    await announce(3, await written(Transformer.initialize(TINY_CONFIG, 1)));
    expect(first.aborted).toBe(true);
    expect(offers.nextOffer(signal).aborted).toBe(false);
    expect(offers.nextOffer(AbortSignal.abort()).aborted).toBe(true);
  });

  it('waits for a collector that comes later, until the trainer ends', async () => {
    const weights = await written(Transformer.initialize(TINY_CONFIG, 1));
    const location = { directory, storage: null };
    await announce(3, weights);
    const later = await watch(RUN);
    expect(later.version).toBe(3);
    expect((await watch('other')).version).toBe(-1);
    await OfferFile.at(location, RUN)?.remove();
    expect((await watch(RUN)).version).toBe(-1);
    later.close();
  });

  it('is not made where files are in object storage, or where the disk refuses', async () => {
    expect(OfferFile.at({ directory, storage: bucket }, RUN)).toBeUndefined();
    expect(await WatchedOffers.open({ directory, storage: bucket }, RUN)).toBeUndefined();
    const refused = OfferFile.at({ directory: join(directory, 'gone'), storage: null }, RUN);
    await rm(directory, { recursive: true });
    await refused?.announce({ policyVersion: 1, weights: { sha256: '', sizeBytes: 0, name: '' } });
    await refused?.remove();
  });
});
