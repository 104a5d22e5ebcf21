// The address is the state of a page: its path and its query.
//
// Ordinary links work: a click on our own <a href="/…"> changes the address without a reload. A page reads it
// with useRoute() and writes it with navigate() or setQuery().
import { useEffect, useState } from "preact/hooks";

export interface Route {
  path: string;
  query: URLSearchParams;
}

export type Changes = Record<string, string | string[] | null | undefined>;

const listeners = new Set<(route: Route) => void>();

export function currentRoute(): Route {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

function tell(): void {
  const route = currentRoute();
  for (const listener of [...listeners]) listener(route);
}

// What a link to another page keeps of this address: the currency.
const KEPT = ["currency"];

// The address with what is kept, unless it says otherwise; addresses of the API have their own way.
function withKept(to: string): string {
  if (typeof location === "undefined" || !to.startsWith("/")) return to;
  const here = new URLSearchParams(location.search);
  const [path = "", search] = to.split("?", 2);
  const query = new URLSearchParams(search);
  const missing = KEPT.filter((name) => here.has(name) && !query.has(name));
  if (missing.length === 0) return to;
  for (const name of missing) query.set(name, here.get(name) ?? "");
  return `${path}?${readable(query)}`;
}

export function navigate(to: string, { replace = false, keep = true } = {}): void {
  if (keep) to = withKept(to);
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  tell();
}

// The address with part of its query changed; null or "" removes a name.
export function withQuery(changes: Changes, route: Route = currentRoute()): string {
  const query = new URLSearchParams(route.query);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") query.append(name, one);
    }
  }
  const text = readable(query);
  return text ? `${route.path}?${text}` : route.path;
}

export function setQuery(changes: Changes, options?: { replace?: boolean }): void {
  navigate(withQuery(changes), { ...options, keep: false });
}

// An address of a page: href("/explore", { by: "team", filter: ["team=nlp"] }), in the currency of this one.
export function href(path: string, query?: URLSearchParams | Changes): string {
  let search: URLSearchParams;
  if (query instanceof URLSearchParams) {
    search = query;
  } else {
    search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== null && one !== undefined && one !== "") search.append(name, one);
      }
    }
  }
  const text = readable(search);
  return withKept(text ? `${path}?${text}` : path);
}

// Characters that are allowed in a query stay readable.
function readable(query: URLSearchParams): string {
  return query
    .toString()
    .replace(/%3D/g, "=")
    .replace(/%2C/g, ",")
    .replace(/%3A/g, ":")
    .replace(/%2F/g, "/")
    .replace(/%28/g, "(")
    .replace(/%29/g, ")");
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    listeners.add(setRoute);
    setRoute(currentRoute());
    return () => void listeners.delete(setRoute);
  }, []);
  return route;
}

function isOurs(link: HTMLAnchorElement): boolean {
  return (
    link.origin === location.origin &&
    !link.target &&
    !link.hasAttribute("download") &&
    !link.pathname.startsWith("/api/")
  );
}

export function followLinks(): void {
  window.addEventListener("popstate", tell);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || !isOurs(link)) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
