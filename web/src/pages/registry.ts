// Every page: its address, its name, who may see it, and how it is loaded. A page is a folder with
// an index.tsx whose default export is the component; it is fetched when it is first shown.
import type { ComponentType } from "preact";
import type { Permission } from "../api/types";
import type { IconName } from "../components/icons";

export interface Page {
  path: string;
  title: string;
  icon: IconName;
  group: "Spend" | "Now" | "Books" | "";
  key?: string; // "o": g o goes there
  needs?: Permission; // one of the permissions; the server decides all the same
  unscopedOnly?: boolean; // of the books, which can't be cut to a scope
  hidden?: boolean; // not in the navigation
  timeless?: boolean; // shows no month, so that none is chosen
  load: () => Promise<{ default: ComponentType }>;
}

export const PAGES: Page[] = [
  { path: "/", title: "Overview", icon: "overview", group: "Spend", key: "o", needs: "read_costs",
    load: () => import("./overview/index") },
  { path: "/explore", title: "Explore", icon: "explore", group: "Spend", key: "e", needs: "read_costs",
    load: () => import("./explore/index") },
  { path: "/workload", title: "Workloads", icon: "workload", group: "Spend", key: "w", needs: "read_costs",
    load: () => import("./workload/index") },
  { path: "/coverage", title: "Coverage", icon: "coverage", group: "Spend", key: "c", needs: "read_costs",
    load: () => import("./coverage/index") },
  { path: "/live", title: "Live", icon: "live", group: "Now", key: "l", needs: "read_live", timeless: true,
    load: () => import("./live/index") },
  { path: "/fleet", title: "Fleet", icon: "fleet", group: "Now", key: "f", needs: "read_fleet", timeless: true,
    load: () => import("./fleet/index") },
  { path: "/bills", title: "Bills", icon: "bills", group: "Books", key: "b", needs: "read_bills", unscopedOnly: true,
    load: () => import("./bills/index") },
  { path: "/invoices", title: "Invoices", icon: "invoices", group: "Books", key: "i", needs: "read_invoices",
    load: () => import("./invoices/index") },
  { path: "/policies", title: "Policies", icon: "policies", group: "Books", key: "p", needs: "read_rules", unscopedOnly: true, timeless: true,
    load: () => import("./policies/index") },
  { path: "/admin", title: "Admin", icon: "admin", group: "Books", key: "a", needs: "read_audit", timeless: true,
    load: () => import("./admin/index") },
  { path: "/account", title: "Account", icon: "account", group: "", key: "u", hidden: true, timeless: true,
    load: () => import("./account/index") },
];

export function pageAt(path: string): Page | undefined {
  return PAGES.find((page) => page.path === path);
}

export function mayOpen(page: Page, may: (permission: Permission) => boolean, isScoped: boolean): boolean {
  if (page.unscopedOnly && isScoped) return false;
  return !page.needs || may(page.needs);
}
