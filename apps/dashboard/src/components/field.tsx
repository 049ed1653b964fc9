import type { ComponentProps } from 'react';
import controls from './controls.module.css';

interface FieldProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field of one line with its label beside it. */
export function Field({ label, onChange, ...input }: FieldProps) {
  return (
    <label className={controls.field}>
      {label}
      <input
        className={controls.input}
        step="any"
        onChange={({ target }) => {
          onChange(target.value);
        }}
        {...input}
      />
    </label>
  );
}
