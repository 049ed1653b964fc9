import {
  Menu,
  MenuButton,
  MenuItemCheck,
  MenuItemCheckbox,
  MenuProvider,
  useMenuStore,
} from '@ariakit/react/menu';
import { useEffect, useRef } from 'react';
import controls from './controls.module.css';
import styles from './columns-menu.module.css';

const FIELD = 'shown';

interface ColumnsMenuProps {
  /** Of the button. */
  readonly label: string;
  readonly columns: readonly { readonly id: string; readonly label: string }[];
  readonly hiddenIds: readonly string[];
  readonly onHide: (ids: readonly string[]) => void;
}

/** A button with a menu of the columns of a table, each of which is shown or hidden; open at first, since a press on the button brings it into the page. */
export function ColumnsMenu({ label: title, columns, hiddenIds, onHide }: ColumnsMenuProps) {
  const button = useRef<HTMLDivElement>(null);
  const menu = useMenuStore({
    placement: 'bottom-end',
    values: { [FIELD]: columns.flatMap(({ id }) => (hiddenIds.includes(id) ? [] : [id])) },
    setValues: ({ [FIELD]: shown }) => {
      const hidden = columns.flatMap(({ id }) => (shown.includes(id) ? [] : [id]));
      // A table without columns would have no way back.
      if (hidden.length < columns.length) onHide(hidden);
    },
  });
  useEffect(() => {
    // The button that was pressed is no longer in the page.
    button.current?.focus();
    menu.setInitialFocus('first');
    menu.setAutoFocusOnShow(true);
    menu.show();
  }, [menu]);
  return (
    <MenuProvider store={menu}>
      <MenuButton ref={button} className={controls.button}>
        {title}
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
