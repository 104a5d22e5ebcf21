// The field for the second factor: a code of the authenticator app, or a recovery code.
import { useEffect, useRef } from "preact/hooks";
import { TextField } from "./form";

const CODE_CHARACTERS = 6;
const RECOVERY_CHARACTERS_MAX = 40; // with separators

// What is typed, without spaces in the app's codes ("123 456").
export function typedCode(text: string): string {
  const digits = text.replace(/\s/g, "");
  return /^\d*$/.test(digits) ? digits.slice(0, CODE_CHARACTERS) : text.trimStart().slice(0, RECOVERY_CHARACTERS_MAX);
}

export function CodeField({ value, onValue, focus = false }: {
  value: string;
  onValue: (value: string) => void;
  focus?: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus) box.current?.querySelector("input")?.focus();
  }, [focus]);
  return (
    <div class={/^\d*$/.test(value) ? "code-input" : ""} ref={box}>
      <TextField
        label="Second factor code"
        hint="Six digits from your authenticator app, or one of your recovery codes."
        value={value}
        onValue={(text) => onValue(typedCode(text))}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellcheck={false}
        required
      />
    </div>
  );
}
