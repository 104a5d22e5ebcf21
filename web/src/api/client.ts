// The API client: addresses, errors, conditional requests and the CSRF token.
import { answered, lost } from "./connection";
import type { Problem } from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.detail || problem.title);
  }
}

export type QueryParameters = Record<
  string,
  string | number | boolean | readonly string[] | null | undefined
>;

const ROOT = "/api/v1";
let csrf = "";
let signedOut: () => void = () => {};
let confirmed: (problem: Problem) => Promise<boolean> = () => Promise.resolve(false);

export function setCsrf(token: string): void {
  csrf = token;
}

// Called when a session turns out to be over.
export function onSignedOut(then: () => void): void {
  signedOut = then;
}

// Called when a change needs a fresh sign-in; tells whether the user has confirmed theirs.
export function onStaleSignIn(then: (problem: Problem) => Promise<boolean>): void {
  confirmed = then;
}

// The answers that are converted to the currency of the page's address.
const CONVERTED = /^\/(costs|summary|workloads?|coverage|explain|search|forecast|anomalies|currencies|dimensions\/[^/]+\/values|advice|what-if\/runs\/[^/]+(\/[^/]+)?)$/;

function pageCurrency(): string | null {
  return typeof location === "undefined" ? null : new URLSearchParams(location.search).get("currency");
}

// "/api/v1/costs?by=team&filter=a&filter=b"; empty parameters are left out. Costs are asked for in the currency
// of the page.
export function address(path: string, parameters: QueryParameters = {}): string {
  const query = new URLSearchParams();
  const all = CONVERTED.test(path) ? { ...parameters, currency: parameters["currency"] ?? pageCurrency() } : parameters;
  for (const [name, value] of Object.entries(all)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(name, String(one));
    }
  }
  const text = query.toString();
  return ROOT + path + (text ? "?" + text : "");
}

// The file name for saving the answer: "costs-2026-03.csv".
export function fileName(href: string): string {
  const { pathname, searchParams } = new URL(href, "http://localhost");
  const from = searchParams.get("from"), to = searchParams.get("to");
  const when = searchParams.get("month") ?? (from && to ? `${from}-${to}` : "");
  const format = searchParams.get("format") ?? "csv";
  const what = pathname.split("/").filter((part) => part).at(-1) ?? "table";
  return `${[what, when].filter((part) => part).join("-").replace(/[^\w.-]/g, "_")}.${format === "sheet" ? "csv" : format}`;
}

async function problemOf(response: Response): Promise<Problem> {
  const plain: Problem = {
    title: response.statusText || "Error",
    status: response.status,
    detail: `The server answered ${response.status}.`,
  };
  try {
    return { ...plain, ...((await response.json()) as Partial<Problem>) };
  } catch {
    return plain;
  }
}

async function send(input: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(input, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    lost();
    throw new ApiError(0, {
      title: "No answer",
      status: 0,
      detail: "The server does not answer. Check that it runs and that you are connected.",
    });
  }
  answered();
  if (response.ok || response.status === 304) return response;
  const problem = await problemOf(response);
  if (response.status === 401 && !input.startsWith(ROOT + "/session")) signedOut();
  throw new ApiError(response.status, problem);
}

interface Kept {
  etag: string;
  data: unknown;
}
const KEPT_MAX = 200;
const kept = new Map<string, Kept>();

export function keptAnswer<T>(input: string): T | undefined {
  return kept.get(input)?.data as T | undefined;
}

export function forgetAnswers(): void {
  kept.clear();
}

function keep(input: string, answer: Kept): void {
  kept.delete(input);
  kept.set(input, answer);
  const oldest = kept.keys().next().value;
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}

// GET of an address made by `address`. Unchanged data is not transferred again.
export async function getAt<T>(input: string, signal?: AbortSignal): Promise<T> {
  const before = kept.get(input);
  const headers: Record<string, string> = { Accept: "application/json" };
  if (before?.etag) headers["If-None-Match"] = before.etag;
  const response = await send(input, { headers, signal: signal ?? null, cache: "no-store" });
  if (response.status === 304 && before) return before.data as T;
  const data = (await response.json()) as T;
  keep(input, { etag: response.headers.get("ETag") ?? "", data });
  return data;
}

export function get<T>(path: string, parameters?: QueryParameters, signal?: AbortSignal): Promise<T> {
  return getAt<T>(address(path, parameters), signal);
}

async function changeOnce<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (csrf) headers["X-CSRF-Token"] = csrf;
  const isFile = body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = isFile ? "application/octet-stream" : "application/json";
  const response = await send(ROOT + path, {
    method,
    headers,
    body: body === undefined ? null : isFile ? body : JSON.stringify(body),
  });
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

// A change that is refused because the sign-in is too long ago is sent again once that is confirmed.
async function change<T>(method: string, path: string, body?: unknown): Promise<T> {
  try {
    return await changeOnce<T>(method, path, body);
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.needs !== "fresh_sign_in") throw error;
    if (!(await confirmed(error.problem))) {
      throw new ApiError(error.status, { ...error.problem, detail: "Nothing was changed, because your sign-in was not confirmed." });
    }
    return change<T>(method, path, body);
  }
}

export const post = <T = void>(path: string, body?: unknown) => change<T>("POST", path, body);
// The bytes of a file; `parameters` are those of the address.
export const upload = <T = void>(path: string, file: Blob, parameters: QueryParameters) =>
  change<T>("POST", address(path, parameters).slice(ROOT.length), file);
export const put = <T = void>(path: string, body?: unknown) => change<T>("PUT", path, body);
export const patch = <T = void>(path: string, body?: unknown) => change<T>("PATCH", path, body);
export const remove = <T = void>(path: string, body?: unknown) => change<T>("DELETE", path, body);
