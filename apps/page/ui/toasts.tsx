import { signal } from "@preact/signals";
import { X } from "lucide-preact";
import { Button, IconButton } from "./button.tsx";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
  readonly undo: (() => void) | null;
  /** What `undo` is called on its button. */
  readonly action?: string;
}

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Long enough to read a sentence and to reach a button. */
const SHOWN_MS = 8_000;

/** Says that something was done. `undo` takes it back. */
export function say(text: string, undo: (() => void) | null = null): void {
  add({ text, undo, isBad: false });
}

/** Says that something was done, and leads on to it. */
export function sayWith(text: string, action: string, go: () => void): void {
  add({ text, undo: go, isBad: false, action });
}

/** Says that something was refused. It stays until it is closed. */
export function complain(text: string): void {
  add({ text, undo: null, isBad: true });
}

function add(toast: Omit<Toast, "id">): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-2), { ...toast, id }];
  if (!toast.isBad) setTimeout(() => close(id), SHOWN_MS);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isBad, undo, action = "Undo" }) => (
        <div key={id} class={isBad ? "toast bad" : "toast"}>
          <span>{text}</span>
          {undo !== null && (
            <Button
              isSmall
              onClick={() => {
                close(id);
                undo();
              }}
            >
              {action}
            </Button>
          )}
          <IconButton isSmall label="Close this message" onClick={() => close(id)}>
            <X aria-hidden="true" />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
