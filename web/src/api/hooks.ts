// Loads data for a page. useQuery shows earlier data at once and reloads it; usePages reads a list by its
// cursor.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { address, ApiError, getAt, keptAnswer, type QueryParameters } from "./client";
import { useReturn } from "./connection";
import type { List } from "./types";

export interface Query<T> {
  data: T | undefined;
  error: ApiError | undefined;
  loading: boolean; // also while older data is shown
  reload: () => void;
}

function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiError(0, { title: "Error", status: 0, detail });
}

// A null path sends no request: for data that depends on a choice not made yet.
export function useQuery<T>(path: string | null, parameters?: QueryParameters): Query<T> {
  const input = path === null ? null : address(path, parameters);
  const [state, setState] = useState<{ input: string | null; data?: T; error?: ApiError }>({ input: null });
  const [round, setRound] = useState(0);
  const [loading, setLoading] = useState(false);

  useEffect(() => {
    if (input === null) return;
    const abort = new AbortController();
    setLoading(true);
    getAt<T>(input, abort.signal)
      .then((data) => setState({ input, data }))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) setState({ input, error: asApiError(error) });
      })
      .finally(() => {
        if (!abort.signal.aborted) setLoading(false);
      });
    return () => abort.abort();
  }, [input, round]);

  const reload = useCallback(() => setRound((n) => n + 1), []);
  useReturn(reload);
  const isMine = state.input === input && input !== null;
  // Without an answer the page keeps what it had; the shell says so.
  const kept = input === null ? undefined : keptAnswer<T>(input);
  const isKept = isMine && state.error?.status === 0 && kept !== undefined;
  return {
    data: isMine && !isKept ? state.data : kept,
    error: isMine && !isKept ? state.error : undefined,
    loading: input !== null && (loading || !isMine),
    reload,
  };
}

export interface Pages<T> {
  rows: T[];
  hasMore: boolean;
  error: ApiError | undefined;
  loading: boolean;
  loadMore: () => void;
  reload: () => void;
}

export function usePages<T>(path: string | null, parameters?: QueryParameters): Pages<T> {
  const first = path === null ? null : address(path, parameters);
  const [rows, setRows] = useState<T[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [error, setError] = useState<ApiError>();
  const [loading, setLoading] = useState(first !== null);
  const [round, setRound] = useState(0);
  const asked = useRef<AbortController>();

  const ask = useCallback((input: string, before: T[]) => {
    asked.current?.abort();
    const abort = (asked.current = new AbortController());
    setLoading(true);
    setError(undefined);
    getAt<List<T>>(input, abort.signal)
      .then((list) => {
        if (abort.signal.aborted) return;
        setRows([...before, ...list.data]);
        setNext(list.next ?? null);
        setLoading(false);
      })
      .catch((problem: unknown) => {
        if (abort.signal.aborted) return;
        setError(asApiError(problem));
        setLoading(false);
      });
  }, []);

  useEffect(() => {
    setRows([]);
    setNext(null);
    if (first === null) return;
    ask(first, []);
    return () => asked.current?.abort();
  }, [first, round]);

  return {
    rows,
    hasMore: next !== null,
    error,
    loading,
    loadMore: () => {
      if (path !== null && next !== null && !loading) {
        ask(address(path, { ...parameters, cursor: next }), rows);
      }
    },
    reload: useCallback(() => setRound((n) => n + 1), []),
  };
}

const PAUSE_MS = 200;

// A text that is being typed, once the typing pauses.
export function usePaused(text: string): string {
  const [paused, set] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => set(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}
