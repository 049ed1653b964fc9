import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { shownMoment } from '../as-of/shown-moment';
import { api, awaitData } from '../api/client';
import { keys } from '../api/queries';
import { shortId } from '../format/ids';
import { isWholeId, type PaletteCommand } from './commands';

const PAUSE_MS = 150;
const MAX_RUNS = 8;

/** Answers of the API to what was typed. */
interface FoundCommands {
  readonly commands: readonly PaletteCommand[];
  readonly isLooking: boolean;
  /** Null: it answered, or was not asked. */
  readonly error: Error | null;
}

/** Runs with every word of what was typed in name, environment, id or tags; the API finds them once the typing pauses. */
export function useFoundRuns(typed: string): FoundCommands {
  const search = useSettled(typed);
  const { data, isLoading, error } = useQuery({
    queryKey: [...keys.runList({ search, archived: 'all' }), MAX_RUNS],
    queryFn: ({ signal }) => {
      const query = { search, archived: 'all' as const, limit: MAX_RUNS };
      return awaitData(api.GET('/api/runs', { params: { query }, signal }));
    },
    enabled: search !== '',
  });
  // Those of what was typed before are not what the next press of Enter is meant for.
  if (search !== typed) return { commands: [], isLooking: true, error: null };
  const commands = (data?.items ?? []).map(({ runId, name, environment, tags }): PaletteCommand => ({
    group: 'Runs',
    label: name,
    detail: [shortId(runId), environment, ...tags].filter(Boolean).join(' · '),
    effect: { kind: 'open', address: `/runs/${runId}` },
  }));
  return { commands, isLooking: isLoading, error };
}

/** The episode or the update with the id that was typed, in whichever run it is. */
export function useFoundById(typed: string): FoundCommands {
  const id = isWholeId(typed) ? typed.toLowerCase() : '';
  const { data, isLoading, error } = useQuery({
    queryKey: ['found-by-id', id],
    queryFn: ({ signal }) => {
      const params = { query: { asOf: shownMoment() ?? undefined } };
      return awaitData(api.POST('/api/sql', { params, body: { query: makeQuery(id) }, signal }));
    },
    enabled: id !== '',
    retry: false,
  });
  const rows = (data?.rows ?? []) as readonly (readonly string[])[];
  const commands = rows.map(([label, address]): PaletteCommand => ({
    ...{ group: 'By id', label },
    effect: { kind: 'open', address },
  }));
  return { commands, isLooking: isLoading, error };
}

/** Rows of a label and an address. The id has only hexadecimal digits and hyphens. */
function makeQuery(id: string): string {
  return `SELECT 'Episode ${id}' AS label, concat('/runs/', run_id, '/episodes/', episode_id) AS address
FROM episodes WHERE episode_id = '${id}'
UNION ALL
SELECT concat('Update ', toString(update_number)) AS label, concat('/runs/', run_id, '/updates/', toString(update_number)) AS address
FROM updates WHERE plan_id = '${id}'`;
}

function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSettled(typed);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [typed]);
  return settled;
}
