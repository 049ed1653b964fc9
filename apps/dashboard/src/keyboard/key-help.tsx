import controls from '../components/controls.module.css';
import { ModalDialog } from '../components/modal-dialog';
import { KEYS, type KeyRow } from './keys';
import styles from './key-help.module.css';
import { setSingleKeys, useSingleKeys } from './single-keys';

const KEY_NAMES: Readonly<Record<string, string>> = { Escape: 'Esc' };

/** The keys by the place where each holds, and a switch for those without modifiers. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const isOn = useSingleKeys();
  return (
    <ModalDialog label="Keyboard" onClose={onClose}>
      <h2>Keyboard</h2>
      <table className={styles.keys}>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Does</th>
            <th scope="col">Where</th>
          </tr>
        </thead>
        <tbody>
          {KEYS.map((row) => (
            <tr key={nameKeys(row).join(' ')}>
              <td>
                {nameKeys(row).map((name) => (
                  <kbd key={name}>{name}</kbd>
                ))}
              </td>
              <td>{row.does}</td>
              <td className={styles.where}>{row.where}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label className={controls.field}>
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) => {
            setSingleKeys(target.checked);
          }}
        />
        Use keys without Ctrl
      </label>
      <p className={styles.buttons}>
        <button type="button" className={controls.button} onClick={onClose}>
          Close
        </button>
      </p>
    </ModalDialog>
  );
}

function nameKeys({ keys, isChord }: KeyRow): readonly string[] {
  return isChord ? [`Ctrl+${keys.join(' ').toUpperCase()}`] : keys.map((key) => KEY_NAMES[key] ?? key);
}
