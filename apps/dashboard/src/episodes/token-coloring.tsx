import { useMemo, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { atOnce } from '../as-of/shown-moment';
import type { EpisodeDetail, EpisodeUse, StepDetail } from '../api-types/schema';
import { useTrainedTokens } from '../api/update-queries';
import { Segments } from '../components/segments';
import { Select } from '../components/select';
import { shortId } from '../format/ids';
import { formatNumber } from '../format/numbers';
import page from '../components/page.module.css';
import { colorChoices, tokenColors, type ColorBy, type TokenColors } from '../tokens/token-colors';
import styles from '../tokens/token-strip.module.css';
import { tokenViews, trainedSteps, type TrainedStep } from '../tokens/token-view';

/** How the tokens of an episode's steps are colored, and the controls of it; the address keeps what is chosen. */
interface TokenColoring {
  readonly colors: TokenColors;
  readonly trained: ReadonlyMap<number, TrainedStep>;
  readonly controls: ReactNode;
}

const NONE: ReadonlyMap<number, TrainedStep> = new Map();

export function useTokenColoring(
  runId: string,
  episode: Pick<EpisodeDetail, 'episodeId' | 'uses'>,
  steps: readonly StepDetail[],
): TokenColoring {
  const [parameters, setParameters] = useSearchParams();
  const use = chosenUse(episode.uses, parameters, runId);
  const { data } = useTrainedTokens(use, episode.episodeId);
  const trained = useMemo(() => (data === undefined ? NONE : trainedSteps(data)), [data]);
  const views = useMemo(
    () => steps.flatMap(({ step, tokens }) => tokenViews(tokens, trained.get(step))),
    [steps, trained],
  );
  const choices = useMemo(() => colorChoices(views), [views]);
  const asked = parameters.get('color') ?? (use === null ? 'logprob' : 'advantage');
  const by: ColorBy = choices.find(({ value }) => value === asked)?.value ?? 'logprob';
  const { label, ends } = useMemo(() => tokenColors(views, by), [views, by]);
  const [green, red] = ends;
  // The same object for the same colors, or every strip would be drawn again as steps come.
  const colors = useMemo(() => ({ by, label, ends: [green, red] as const }), [by, label, green, red]);
  const change = (changed: Readonly<Record<string, string>>) => {
    const next = new URLSearchParams(parameters);
    for (const [name, value] of Object.entries(changed)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    setParameters(next, atOnce({ replace: true }));
  };
  const controls = (
    <div className={page.head}>
      <span className={page.subtle}>Tokens by</span>
      <Segments
        label="Color tokens by"
        value={by}
        options={choices}
        onChange={(color) => {
          change({ color });
        }}
      />
      <Legend {...colors} />
      <span className={page.grow} />
      {use !== null && data?.steps.length === 0 && (
        <span className={page.subtle}>
          Update {use.updateNumber} did not record its tokens; the recipe’s <code>updateTokens</code> does it
        </span>
      )}
      <UseChoice uses={episode.uses} chosen={use} ownRun={runId} onChange={change} />
    </div>
  );
  return { colors, trained, controls };
}

interface UseChoiceProps {
  readonly uses: readonly EpisodeUse[];
  readonly chosen: EpisodeUse | null;
  readonly ownRun: string;
  /** Gets what the address shall have. */
  readonly onChange: (changed: { readonly of: string; readonly update: string }) => void;
}

/** The update whose figures the tokens have; nothing where none trained the episode. */
function UseChoice({ uses, chosen, ownRun, onChange }: UseChoiceProps) {
  if (uses.length === 0) return null;
  return (
    <Select
      label="as trained by"
      value={chosen === null ? '' : formatName(chosen)}
      options={[
        { value: '', label: 'no update' },
        ...uses.map((one) => ({ value: formatName(one), label: formatLabel(one, ownRun) })),
      ]}
      onChange={(name) => {
        const [of = '', update = ''] = name.split('/');
        onChange({ of: of === ownRun ? '' : of, update });
      }}
    />
  );
}

function Legend({ label, ends: [green, red] }: TokenColors) {
  return (
    <span
      className={styles.legend}
      role="img"
      aria-label={`${label}: green is ${formatNumber(green)}, red is ${formatNumber(red)}`}
    >
      {formatNumber(green)} <i /> {formatNumber(red)}
    </span>
  );
}

function formatName({ runId, updateNumber }: EpisodeUse): string {
  return `${runId}/${updateNumber}`;
}

function formatLabel({ runId, updateNumber }: EpisodeUse, own: string): string {
  return runId === own ? `update ${updateNumber}` : `update ${updateNumber} of run ${shortId(runId)}`;
}

/** The update that the address names; null without one, and where the episode is not in it. */
function chosenUse(uses: readonly EpisodeUse[], parameters: URLSearchParams, own: string): EpisodeUse | null {
  const of = parameters.get('of') ?? own;
  const update = parameters.get('update');
  return uses.find(({ runId, updateNumber }) => runId === of && `${updateNumber}` === update) ?? null;
}
