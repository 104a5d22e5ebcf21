// A dialog above the page: the browser's own <dialog>, so that focus stays inside and Escape closes.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button, IconButton } from "./controls";

export function Dialog({ title, open, onClose, children, wide = false }: {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog || !open) return;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, [open]);
  if (!open) return null;
  return (
    <dialog
      ref={ref}
      class={wide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        // A search field would use the key to clear its text.
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog-inner">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

// A question such as "Remove ana?" with two answers.
export function Confirm({ title, open, onClose, onConfirm, children, confirm, danger = false, busy = false }: {
  title: string;
  open: boolean;
  onClose: () => void;
  onConfirm: () => void;
  children: ComponentChildren;
  confirm: string;
  danger?: boolean;
  busy?: boolean;
}) {
  return (
    <Dialog title={title} open={open} onClose={onClose}>
      <div class="dialog-body">{children}</div>
      <footer class="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button tone={danger ? "danger" : "primary"} onClick={onConfirm} busy={busy}>
          {confirm}
        </Button>
      </footer>
    </Dialog>
  );
}
