import {
  Combobox,
  ComboboxGroup,
  ComboboxGroupLabel,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
} from '@ariakit/react/combobox';
import { useState } from 'react';
import { useMatch } from 'react-router';
import { useNamedMoment } from '../as-of/shown-moment';
import { useRun } from '../api/queries';
import { ModalDialog } from '../components/modal-dialog';
import { commandsNamed, commandsOfRun, findCommands, FIXED_COMMANDS, groupCommands } from './commands';
import type { CommandGroup, PaletteCommand } from './commands';
import styles from './command-palette.module.css';
import { DOCS_COMMANDS } from './docs-commands';
import { useCarryOut } from './use-carry-out';
import { useFoundById, useFoundRuns } from './use-found-runs';

interface CommandPaletteProps {
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** Finds pages, runs, ids and commands by what is typed, and carries out the one that is chosen. */
export function CommandPalette(props: CommandPaletteProps) {
  const [typed, setTyped] = useState('');
  const { groups, looking, errors } = useCommands(typed.trim());
  const { refused, carryOut } = useCarryOut(props);
  const complaints = [...(refused === null ? [] : [refused]), ...errors.map(({ message }) => message)];
  return (
    <ModalDialog label="Commands" className={styles.palette} onClose={props.onClose}>
      <ComboboxProvider open focusLoop includesBaseElement={false} value={typed} setValue={setTyped}>
        <Combobox
          className={styles.field}
          aria-label="Find pages, runs and commands"
          placeholder="A page, a run, an id, a query …"
          autoFocus
          autoSelect="always"
          maxLength={200}
        />
        {[...new Set(complaints)].map((complaint) => (
          <p key={complaint} role="alert" className={styles.refused}>
            {complaint}
          </p>
        ))}
        <ComboboxList alwaysVisible className={styles.list} aria-label="Found">
          {groups.map((group) => (
            <Group key={group.name} group={group} onChoose={({ effect }) => carryOut(effect)} />
          ))}
        </ComboboxList>
        {(looking !== null || (groups.length === 0 && complaints.length === 0)) && (
          <p role="status" className={styles.none}>
            {looking ?? 'Nothing found'}
          </p>
        )}
      </ComboboxProvider>
    </ModalDialog>
  );
}

interface GroupProps {
  readonly group: CommandGroup;
  readonly onChoose: (command: PaletteCommand) => void;
}

function Group({ group: { name, commands }, onChoose }: GroupProps) {
  return (
    <ComboboxGroup>
      <ComboboxGroupLabel className={styles.group}>{name}</ComboboxGroupLabel>
      {commands.map((command) => (
        <ComboboxItem
          key={`${command.label} ${JSON.stringify(command.effect)}`}
          className={styles.item}
          focusOnHover
          blurOnHoverEnd={false}
          hideOnClick={false}
          onClick={() => {
            onChoose(command);
          }}
        >
          <span>{command.label}</span>
          {command.detail !== undefined && <span className={styles.detail}>{command.detail}</span>}
        </ComboboxItem>
      ))}
    </ComboboxGroup>
  );
}

interface FoundGroups {
  readonly groups: readonly CommandGroup[];
  /** Says that more may come; null where nothing can. */
  readonly looking: string | null;
  readonly errors: readonly Error[];
}

function useCommands(typed: string): FoundGroups {
  const runId = useMatch('/runs/:runId/*')?.params.runId ?? '';
  const run = useRun(runId, { refetchMs: false, isEnabled: runId !== '' });
  const isEarlier = useNamedMoment() !== null;
  const runs = useFoundRuns(typed);
  const byId = useFoundById(typed);
  const now: PaletteCommand = {
    group: 'Time',
    label: 'Back to now',
    effect: { kind: 'showMoment', moment: null },
  };
  const fixed = [
    ...(run.data === undefined ? [] : commandsOfRun(run.data)),
    ...(isEarlier ? [now] : []),
    ...FIXED_COMMANDS,
    ...DOCS_COMMANDS,
  ];
  const found = findCommands(fixed, typed);
  const groups = groupCommands([
    ...byId.commands,
    ...commandsNamed(typed, run.data),
    ...found.filter(({ isRare }) => isRare !== true),
    ...runs.commands,
    ...found.filter(({ isRare }) => isRare === true),
  ]);
  return {
    groups,
    looking: byId.isLooking
      ? 'Looking for the id …'
      : runs.isLooking && groups.length === 0
        ? 'Looking for runs …'
        : null,
    errors: [byId.error, runs.error].filter((error) => error !== null),
  };
}
