// The same query as a file, or as an address for a program.
import { useState } from "preact/hooks";
import { toast } from "../../app/toasts";
import { Button, LinkButton } from "../../components/controls";
import { Dialog } from "../../components/dialog";
import { exportAddress, type Question } from "./state";

const FORMATS = [
  ["sheet", "Spreadsheet", "CSV with every digit, no totals row. A name that begins like a formula has an apostrophe before it."],
  ["csv", "CSV", "The same for programs: names as they are."],
  ["parquet", "Parquet", "For a data lake or a notebook. Amounts as decimals."],
  ["json", "JSON", "Amounts as strings, so that no parser rounds them."],
  ["jsonl", "JSON lines", "A row a line, streamed."],
] as const;

export function Exports({ question }: { question: Question }) {
  const [open, setOpen] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(location.origin + exportAddress(question, "json"));
    toast("Address copied. It needs a token: Authorization: Bearer …");
  };
  return (
    <>
      <Button icon="download" onClick={() => setOpen(true)}>
        Export
      </Button>
      <Dialog title="Export" open={open} onClose={() => setOpen(false)}>
        <div class="dialog-body">
          <ul class="exports">
            {FORMATS.map(([format, title, what]) => (
              <li key={format}>
                <div>
                  <strong>{title}</strong>
                  <p class="muted small">{what}</p>
                </div>
                <LinkButton small icon="download" href={exportAddress(question, format)} download>
                  Download
                </LinkButton>
              </li>
            ))}
            <li>
              <div>
                <strong>For a program</strong>
                <p class="muted small">The API address of these figures.</p>
              </div>
              <Button small icon="copy" onClick={() => void copy().catch((error: Error) => toast(error.message, "bad"))}>
                Copy
              </Button>
            </li>
          </ul>
        </div>
      </Dialog>
    </>
  );
}
