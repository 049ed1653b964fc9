import { useOpenPage, useShowMoment } from '../as-of/shown-moment';
import { useMomentFinder } from '../api/use-moment-finder';
import { useTheme } from '../theme/use-theme';
import type { CommandEffect } from './commands';

interface PaletteExits {
  readonly onClose: () => void;
  /** Shows the keys in place of the palette. */
  readonly onHelp: () => void;
}

/** Carries a command out and closes the palette, or says why it can't. */
export function useCarryOut({ onClose, onHelp }: PaletteExits) {
  const openPage = useOpenPage();
  const showMoment = useShowMoment();
  const { choose } = useTheme();

  const { refused, find } = useMomentFinder((time) => {
    onClose();
    showMoment(time);
  });
  const carryOut = (effect: CommandEffect): void => {
    if (effect.kind === 'help') return onHelp();
    if (effect.kind === 'showEvent') return void find(effect.eventId);
    onClose();
    if (effect.kind === 'open') openPage(effect.address);
    else if (effect.kind === 'leave') location.assign(effect.address);
    else if (effect.kind === 'theme') choose(effect.choice);
    else showMoment(effect.moment);
  };
  return { refused, carryOut };
}
