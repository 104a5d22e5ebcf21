// The help on keyboard shortcuts, opened by "?".
import { Dialog } from "../components/dialog";
import type { Page } from "../pages/registry";

const GENERAL: [string[], string][] = [
  [["/"], "Search, or run a command"],
  [["["], "Previous month"],
  [["]"], "Next month"],
  [["↑", "↓"], "Row above or below, in a table"],
  [["Esc"], "Close"],
  [["?"], "This help"],
];

function Keys({ keys }: { keys: string[] }) {
  return (
    <span class="keys">
      {keys.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  );
}

export function Help({ open, onClose, pages }: { open: boolean; onClose: () => void; pages: Page[] }) {
  const goes = pages.filter((page) => page.key).map((page): [string[], string] => [["g", page.key ?? ""], page.title]);
  return (
    <Dialog title="Keyboard shortcuts" open={open} onClose={onClose} wide>
      <div class="dialog-body help">
        {[goes, GENERAL].map((list, i) => (
          <dl key={i} class="key-list">
            {list.map(([keys, what]) => (
              <div key={what}>
                <dt>{what}</dt>
                <dd>
                  <Keys keys={keys} />
                </dd>
              </div>
            ))}
          </dl>
        ))}
      </div>
    </Dialog>
  );
}
