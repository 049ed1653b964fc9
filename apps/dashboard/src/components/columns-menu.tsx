import { Menu, MenuButton, MenuItemCheck, MenuItemCheckbox, MenuProvider } from '@ariakit/react/menu';
import controls from './controls.module.css';
import styles from './columns-menu.module.css';

const FIELD = 'shown';

interface ColumnsMenuProps {
  readonly columns: readonly { readonly id: string; readonly label: string }[];
  readonly hiddenIds: readonly string[];
  readonly onHide: (ids: readonly string[]) => void;
}

/** A button with a menu of the columns of a table, each of which is shown or hidden. */
export function ColumnsMenu({ columns, hiddenIds, onHide }: ColumnsMenuProps) {
  const shown = columns.flatMap(({ id }) => (hiddenIds.includes(id) ? [] : [id]));
  return (
    <MenuProvider
      placement="bottom-end"
      values={{ [FIELD]: shown }}
      setValues={({ [FIELD]: chosen }) => {
        const isShown = (id: string) => (chosen as readonly string[]).includes(id);
        const hidden = columns.flatMap(({ id }) => (isShown(id) ? [] : [id]));
        // A table without columns would have no way back.
        if (hidden.length < columns.length) onHide(hidden);
      }}
    >
      <MenuButton className={controls.button}>
        {hiddenIds.length === 0 ? 'Columns' : `Columns: ${shown.length} of ${columns.length}`}
      </MenuButton>
      <Menu className={styles.menu} gutter={4} unmountOnHide>
        {columns.map(({ id, label }) => (
          <MenuItemCheckbox key={id} className={styles.item} name={FIELD} value={id} hideOnClick={false}>
            <MenuItemCheck className={styles.check} />
            {label}
          </MenuItemCheckbox>
        ))}
      </Menu>
    </MenuProvider>
  );
}
