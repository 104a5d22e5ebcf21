// An invoice as printed: the API's own page in a shadow root of this page, so that their styles don't mix.
// Its style goes through a constructed sheet and its markup through an inert document, since the content
// security policy allows neither inline styles nor scripts.
import { useEffect, useRef, useState } from "preact/hooks";
import { address, ApiError } from "../../api/client";
import { ErrorNote, Skeleton } from "../../components/states";

// The invoice's rules for html, body and :root apply to the two boxes of the shadow root.
function scoped(css: string): string {
  return css
    .replace(/:root\b/g, ":host")
    .replace(/(^|[},\s])html(?=\s*\{)/g, "$1:host")
    .replace(/(^|[},\s])body(?=\s*\{)/g, "$1.paper-body")
    .replace(/position:\s*fixed/g, "position: absolute");
}

// Only static elements: nothing that runs, loads or links elsewhere.
const FORBIDDEN = "script,iframe,object,embed,link,meta,form,base,style";

function clean(body: HTMLElement): HTMLElement {
  for (const element of body.querySelectorAll(FORBIDDEN)) element.remove();
  for (const element of body.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      const leads = (name === "href" || name === "src") && !/^(data:image\/|#)/.test(value);
      if (name.startsWith("on") || name === "style" || leads) element.removeAttribute(name);
    }
  }
  return body;
}

function show(host: HTMLElement, html: string): void {
  // Removed before parsing: the policy applies even to a document that is never shown.
  const styles: string[] = [];
  const bare = html.replace(/<style[^>]*>([\s\S]*?)<\/style>/gi, (_, css: string) => (styles.push(css), ""));
  const parsed = new DOMParser().parseFromString(bare, "text/html");
  const sheets = styles.map((css) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(scoped(css));
    return sheet;
  });
  const own = new CSSStyleSheet();
  own.replaceSync(":host { display: block; color-scheme: light; } .paper-body { position: relative; overflow: hidden; }");
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [...sheets, own];
  const box = document.createElement("div");
  box.className = "paper-body";
  box.append(...document.importNode(clean(parsed.body), true).childNodes);
  root.replaceChildren(box);
}

async function fetchPage(number: string, view: InvoiceView, signal: AbortSignal): Promise<string> {
  const response = await fetch(address(`/invoices/${encodeURIComponent(number)}`, { format: "html", view: view === "books" ? view : null }), { signal });
  if (response.ok) return response.text();
  throw new ApiError(response.status, {
    title: response.statusText,
    status: response.status,
    detail: `The invoice could not be read (${response.status}).`,
  });
}

// The books' view has the month's reconciliation, which is not for customers.
export type InvoiceView = "client" | "books";

export function Paper({ number, view }: { number: string; view: InvoiceView }) {
  const host = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<ApiError>();
  const [ready, setReady] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    setReady(false);
    setError(undefined);
    fetchPage(number, view, abort.signal)
      .then((html) => {
        if (host.current) show(host.current, html);
        setReady(true);
      })
      .catch((problem: unknown) => {
        if (!abort.signal.aborted && problem instanceof ApiError) setError(problem);
      });
    return () => abort.abort();
  }, [number, view]);
  return (
    <>
      {error && <ErrorNote error={error} />}
      {!ready && !error && <Skeleton lines={8} />}
      <div class="paper" hidden={!ready} tabIndex={0} role="region" aria-label={`Invoice ${number}`}>
        <div ref={host} />
      </div>
    </>
  );
}
