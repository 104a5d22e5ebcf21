// Form fields: a label, the control, a hint, and an error.
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import type { ApiError } from "../api/client";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
}

function described(id: string, props: FieldProps): string | undefined {
  return props.error ? `${id}-error` : props.hint ? `${id}-hint` : undefined;
}

function Around({ id, children, ...props }: FieldProps & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {children}
      {props.error ? (
        <p class="field-error" id={`${id}-error`}>{props.error}</p>
      ) : (
        props.hint && <p class="field-hint" id={`${id}-hint`}>{props.hint}</p>
      )}
    </div>
  );
}

type InputAttributes = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, "onInput" | "label" | "value">;

export function TextField(props: FieldProps & InputAttributes & {
  value: string;
  onValue: (value: string) => void;
}) {
  const id = useId();
  const { label, hint, error, value, onValue, ...rest } = props;
  const around = { label, hint, error };
  return (
    <Around id={id} {...around}>
      <input
        type="text"
        {...rest}
        id={id}
        class="input"
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        aria-invalid={error ? true : undefined}
        aria-describedby={described(id, around)}
      />
    </Around>
  );
}

export function TextArea(props: FieldProps & {
  value: string;
  onValue: (value: string) => void;
  rows?: number;
  required?: boolean;
}) {
  const id = useId();
  return (
    <Around id={id} label={props.label} hint={props.hint} error={props.error}>
      <textarea
        id={id}
        class="input"
        rows={props.rows ?? 3}
        required={props.required}
        value={props.value}
        onInput={(event) => props.onValue(event.currentTarget.value)}
        aria-invalid={props.error ? true : undefined}
        aria-describedby={described(id, props)}
      />
    </Around>
  );
}

export interface Option {
  value: string;
  title: string;
}

export function SelectField(props: FieldProps & {
  value: string;
  onValue: (value: string) => void;
  options: Option[];
}) {
  const id = useId();
  return (
    <Around id={id} label={props.label} hint={props.hint} error={props.error}>
      <Select {...props} id={id} />
    </Around>
  );
}

// A select without a visible label; screen readers still need one.
export function Select(props: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  options: Option[];
  id?: string;
}) {
  return (
    <span class="select">
      <select
        id={props.id}
        aria-label={props.id ? undefined : props.label}
        value={props.value}
        onChange={(event) => props.onValue(event.currentTarget.value)}
      >
        {props.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
    </span>
  );
}

export function CheckField({ label, hint, checked, onChecked }: {
  label: string;
  hint?: string;
  checked: boolean;
  onChecked: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        onChange={(event) => onChecked(event.currentTarget.checked)}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      <label for={id}>{label}</label>
      {hint && <p class="field-hint" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

// The server's error about the whole form.
export function FormError({ error }: { error: ApiError | undefined }) {
  if (!error) return null;
  return (
    <p class="form-error" role="alert">
      {error.message}
    </p>
  );
}
