// Loads the whole fleet, page by page, and again while the page is visible.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "../../api/client";
import type { Fleet, FleetNode } from "../../api/types";

const NODES_A_PAGE = 1000;
const AGAIN_MS = 15_000;
const AGAIN_LARGE_MS = 60_000; // for more than one page of nodes

export interface FleetState {
  data: Fleet | undefined;
  error: ApiError | undefined;
  loading: boolean;
  reload: () => void;
}

async function all(signal: AbortSignal): Promise<Fleet> {
  const nodes: FleetNode[] = [];
  let cursor: string | null | undefined;
  let at: string | null = null;
  let clusters: Fleet["clusters"] = [];
  do {
    const page: Fleet = await get<Fleet>("/fleet", { limit: NODES_A_PAGE, cursor }, signal);
    nodes.push(...page.nodes);
    at = page.at;
    clusters = page.clusters;
    cursor = page.next;
  } while (cursor);
  return { at, clusters, nodes, next: null };
}

export function useFleet(): FleetState {
  const [data, setData] = useState<Fleet>();
  const [error, setError] = useState<ApiError>();
  const [loading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => {
    const abort = new AbortController();
    const ask = () => {
      if (document.hidden) {
        timer.current = setTimeout(ask, AGAIN_MS);
        return;
      }
      all(abort.signal)
        .then((fleet) => {
          setData(fleet);
          setError(undefined);
          timer.current = setTimeout(ask, fleet.nodes.length > NODES_A_PAGE ? AGAIN_LARGE_MS : AGAIN_MS);
        })
        .catch((problem: unknown) => {
          if (!abort.signal.aborted && problem instanceof ApiError) setError(problem);
        })
        .finally(() => {
          if (!abort.signal.aborted) setLoading(false);
        });
    };
    setLoading(true);
    ask();
    return () => {
      abort.abort();
      clearTimeout(timer.current);
    };
  }, [round]);
  return { data, error, loading: loading && data === undefined, reload: useCallback(() => setRound((n) => n + 1), []) };
}
