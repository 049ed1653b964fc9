import { useEffect, useState } from 'react';

const TURN_MS = 800;

/** The turn that is shown, from 0, and whether the turns play by themselves, which ends with the last one. */
export function usePlayback(firstTurn: number, numTurns: number) {
  const [turn, setTurn] = useState(firstTurn);
  const [plays, setPlays] = useState(false);
  const last = Math.max(0, numTurns - 1);
  const isPlaying = plays && turn < last;

  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => {
      setTurn(turn + 1);
    }, TURN_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [isPlaying, turn]);

  return {
    turn: Math.min(turn, last),
    isPlaying,
    goTo: (next: number): void => {
      setPlays(false);
      setTurn(next);
    },
    /** Plays on, from the beginning where the last turn is shown; or pauses. */
    toggle: (): void => {
      if (turn >= last) setTurn(0);
      setPlays(!isPlaying);
    },
  };
}
