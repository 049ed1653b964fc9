import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { CheckpointFiles, WrittenFile } from '../checkpoints/checkpoint-files.js';
import { checkpointsAt, type CheckpointLocation } from '../checkpoints/remote/checkpoints-at.js';
import type { Transformer } from '../model/transformer.js';
import { loadPolicyCheckpoint, openPolicyCheckpoint } from './policy-checkpoint.js';
import { PolicyOffers } from './policy-offers.js';

interface Offer {
  readonly policyVersion: number;
  readonly weights: WrittenFile;
}

const offersDirectory = ({ directory }: CheckpointLocation): string => join(directory, 'offers');
const fileNameOf = (runId: string): string => `${runId}.json`;

/**
 * The file in which a trainer tells a collector of another process on its machine which weights it has written and is about to publish. It is not
 * synced: where it is lost, the collector waits for the publication, as without it.
 */
export class OfferFile {
  private readonly path: string;
  private readonly made: Promise<unknown>;

  private constructor(directory: string, runId: string) {
    this.path = join(directory, fileNameOf(runId));
    this.made = mkdir(directory, { recursive: true });
    this.made.catch(() => undefined);
  }

  /** Undefined where the checkpoint files are not on this machine. */
  static at(location: CheckpointLocation, runId: string): OfferFile | undefined {
    return location.storage === null ? new OfferFile(offersDirectory(location), runId) : undefined;
  }

  /** Offers weights that are written but need not be durable yet. A disk that refuses is no failure. */
  async announce(offer: Offer): Promise<void> {
    try {
      await this.made;
      await writeFile(`${this.path}.partial`, JSON.stringify(offer));
      await rename(`${this.path}.partial`, this.path);
    } catch {
      return;
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true }).catch(() => undefined);
  }
}

/** The policies that a trainer of another process on this machine offers, by its `OfferFile`. An offer that can't be used is none. */
export class WatchedOffers extends PolicyOffers {
  private newest: Offer | null = null;
  private watcher: FSWatcher | null = null;

  private constructor(
    private readonly checkpoints: CheckpointFiles,
    private readonly name: string,
  ) {
    super();
  }

  /** Undefined where the directory can't be watched, or the checkpoint files are not on this machine. */
  static async open(location: CheckpointLocation, runId: string): Promise<WatchedOffers | undefined> {
    if (location.storage !== null) return undefined;
    const offers = new WatchedOffers(checkpointsAt(location), fileNameOf(runId));
    try {
      await offers.watch(offersDirectory(location));
    } catch {
      return undefined;
    }
    return offers;
  }

  get version(): number {
    return this.newest?.policyVersion ?? -1;
  }

  get sha256(): string | null {
    return this.newest?.weights.sha256 ?? null;
  }

  async take(policyVersion: number, model: Transformer | null): Promise<Transformer | null> {
    const { newest } = this;
    if (newest?.policyVersion !== policyVersion) return null;
    const { weights } = newest;
    const files = { open: () => this.checkpoints.openWritten(weights) };
    try {
      if (!model) return await openPolicyCheckpoint(files, weights);
      await loadPolicyCheckpoint(model, files, weights);
      return model;
    } catch {
      // Of a trainer that died, or removed since: the published file is read in its place, and its fault is told.
      if (this.newest === newest) this.newest = null;
      return null;
    }
  }

  close(): void {
    this.watcher?.close();
  }

  private async watch(directory: string): Promise<void> {
    const path = join(directory, this.name);
    await mkdir(directory, { recursive: true });
    this.watcher = watch(directory, { persistent: false }, (_, changed) => {
      if (changed === this.name) void this.read(path);
    });
    this.watcher.on('error', () => {
      this.close();
    });
    await this.read(path);
  }

  private async read(path: string): Promise<void> {
    try {
      const offer: unknown = JSON.parse(await readFile(path, 'utf8'));
      if (!isOffer(offer) || isDeepStrictEqual(offer, this.newest)) return;
      this.newest = offer;
      this.offered();
    } catch {
      // Nothing is on offer yet, or no longer.
    }
  }
}

function isOffer(value: unknown): value is Offer {
  const { policyVersion, weights } = (value ?? {}) as Partial<Offer>;
  const { sha256, sizeBytes, name } = weights ?? {};
  return (
    Number.isSafeInteger(policyVersion) &&
    Number.isSafeInteger(sizeBytes) &&
    typeof sha256 === 'string' &&
    (name === null || typeof name === 'string')
  );
}
