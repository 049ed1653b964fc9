import { useState } from 'react';
import type { WhatIfTokens } from '../api-types/schema';
import { DataTable } from '../components/data-table';
import { Select } from '../components/select';
import { numberColumn } from '../components/table-columns';
import type { TableColumn } from '../components/table-model';
import { shortId } from '../format/ids';
import { formatPercent } from '../format/numbers';

/** An action token of an episode. */
interface TokenRow {
  /** From 1, of the episode. */
  readonly number: number;
  readonly step: number;
  readonly recordedAdvantage: number;
  readonly changedAdvantage: number;
  readonly recordedWeight: number;
  readonly changedWeight: number;
  readonly recordedClip: number;
  readonly changedClip: number;
}

const COLUMNS: readonly TableColumn<TokenRow>[] = [
  { label: 'Token', isNumeric: true, cell: ({ number }) => number },
  { label: 'Step', isNumeric: true, isMuted: true, cell: ({ step }) => step },
  numberColumn('Advantage', ({ recordedAdvantage }) => recordedAdvantage),
  numberColumn('Advantage, changed', ({ changedAdvantage }) => changedAdvantage),
  numberColumn('Weight', ({ recordedWeight }) => recordedWeight),
  numberColumn('Weight, changed', ({ changedWeight }) => changedWeight),
  numberColumn('Clipped', ({ recordedClip }) => recordedClip, formatPercent, {
    title: 'Share of its optimizer steps in which the loss clipped the token',
  }),
  numberColumn('Clipped, changed', ({ changedClip }) => changedClip, formatPercent),
];

/** The action tokens of one episode at a time, side by side. */
export function ComparedTokens({ episodes }: { readonly episodes: readonly WhatIfTokens[] }) {
  const [chosen, setChosen] = useState(episodes[0]?.episodeId ?? '');
  const episode = episodes.find(({ episodeId }) => episodeId === chosen) ?? episodes[0];
  if (episode === undefined) return null;
  return (
    <section aria-label="Tokens">
      <Select
        label="Tokens of episode"
        value={episode.episodeId}
        options={episodes.map(({ episodeId }) => ({ value: episodeId, label: shortId(episodeId) }))}
        onChange={setChosen}
      />
      <DataTable
        label="Tokens, recorded and changed"
        columns={COLUMNS}
        rows={listRows(episode)}
        keyOf={({ number }) => `${number}`}
      />
    </section>
  );
}

function listRows(tokens: WhatIfTokens): TokenRow[] {
  return tokens.steps.map((step, i) => ({
    number: i + 1,
    step,
    recordedAdvantage: tokens.recordedAdvantages[i],
    changedAdvantage: tokens.changedAdvantages[i],
    recordedWeight: tokens.recordedWeights[i],
    changedWeight: tokens.changedWeights[i],
    recordedClip: tokens.recordedClips[i],
    changedClip: tokens.changedClips[i],
  }));
}
