import { TrajectoryError, type AnyEvent } from '@retrace/trajectory';

interface OpenEpisode {
  nextSeq: number;
  isSealed: boolean;
}

/** Refuses events that do not continue their episode: out of order, repeated, or after its end. */
export class EpisodeOrder {
  private readonly episodes = new Map<string, OpenEpisode>();

  /** @throws TrajectoryError `INVALID_EVENT` naming the field, the value and the rule; the episode stays as it was */
  check({ kind, episodeId, seq }: AnyEvent): void {
    const episode = this.episodes.get(episodeId);
    const nextSeq = episode?.nextSeq ?? 0;
    if (seq !== nextSeq) refuse(episodeId, `${kind}.seq is ${seq}`, `be ${nextSeq}`);
    if ((kind === 'EpisodeStarted') !== (seq === 0)) {
      refuse(
        episodeId,
        `${kind}.kind is ${kind} at seq ${seq}`,
        'be EpisodeStarted at seq 0 and nowhere else',
      );
    }
    if (episode?.isSealed && kind !== 'RewardAssigned') {
      refuse(
        episodeId,
        `${kind}.kind is ${kind} at seq ${seq}`,
        'be RewardAssigned once the episode has ended',
      );
    }
    if (episode) {
      episode.nextSeq++;
      episode.isSealed ||= kind === 'EpisodeEnded';
    } else this.episodes.set(episodeId, { nextSeq: 1, isSealed: false });
  }
}

function refuse(episodeId: string, what: string, rule: string): never {
  throw new TrajectoryError('INVALID_EVENT', `${what} of episode ${episodeId}; must ${rule}`);
}
