// A long name, shortened in its middle: names of nodes and pods differ at their end.
const TAIL = 10;
const LONG = 24;

export function CutMiddle({ text }: { text: string }) {
  if (text.length <= LONG) return <span class="cut" title={text}>{text}</span>;
  return (
    <span class="cut-middle" title={text}>
      <span class="cut">{text.slice(0, -TAIL)}</span>
      <span>{text.slice(-TAIL)}</span>
    </span>
  );
}
