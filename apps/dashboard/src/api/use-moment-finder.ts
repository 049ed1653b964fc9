import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'react-router';
import { timeOfMoment } from './named-moment';

/**
 * Finds the time of an event that a person named, and says why it can't. An answer is dropped where it is no longer wanted: something else was asked for
 * since, another page was opened, or the part that asked is gone.
 */
export function useMomentFinder(onFound: (time: string) => void) {
  const { key: address } = useLocation();
  const [refused, setRefused] = useState<string | null>(null);
  const wanted = useRef(0);
  useEffect(
    () => () => {
      wanted.current++;
    },
    [address],
  );
  const cancel = (): void => {
    wanted.current++;
    setRefused(null);
  };
  const find = async (named: string): Promise<void> => {
    cancel();
    const own = wanted.current;
    try {
      const time = await timeOfMoment(named);
      if (own === wanted.current) onFound(time);
    } catch (error) {
      if (own === wanted.current) setRefused((error as Error).message);
    }
  };
  return { refused, find, cancel };
}
