// The way from a figure to its explanation.
import { whyAddress, type Explained } from "../pages/explain/address";
import { Icon } from "./icons";

export function Why({ of, label }: { of: Explained; label: string }) {
  return (
    <a class="why" href={whyAddress(of)} aria-label={`Why ${label}`} title={`Why ${label}`}>
      <Icon name="help" size={14} />
    </a>
  );
}
