import styles from './controls.module.css';

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

/** A drop-down list with its label beside it. A value that is not among the options is added to them. */
export function Select({ label, value, options, onChange }: SelectProps) {
  const isOption = options.some((option) => option.value === value);
  return (
    <label className={styles.field}>
      {label}
      <select
        className={styles.select}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
        {!isOption && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}

/** The text where it is the value of an option. */
export function offered<Value extends string>(
  options: readonly { readonly value: Value }[],
  text: string | null | undefined,
): Value | undefined {
  return options.find(({ value }) => value === text)?.value;
}
