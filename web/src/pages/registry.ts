// The list of all pages: address, title, permission, and how each is loaded. A page is a folder with an
// index.tsx whose default export is the component; it is fetched when it is first shown.
import type { ComponentType } from "preact";
import type { Permission } from "../api/types";
import type { IconName } from "../components/icons";

// In the order of the menu.
export const GROUPS = ["Home", "Spend", "Plan", "Now", "Save", "Books", "Rules"] as const;
export type Group = (typeof GROUPS)[number];

export interface Page {
  path: string;
  title: string;
  icon: IconName;
  group: Group | "";
  key?: string; // "o": the keys g o open it
  needs?: Permission; // hides the page from users without it; the server checks by itself
  unscopedOnly?: boolean; // hidden from users with a scope, since its data can't be cut to one
  hidden?: boolean; // not in the navigation
  timeless?: boolean; // not about a month, so no month picker
  currency?: "shown" | "own" | "none"; // of its amounts: as the switch says, of the bill or price list, or it has none, or says it beside each
  load: () => Promise<{ default: ComponentType }>;
}

export const PAGES: Page[] = [
  { path: "/home", title: "Home", icon: "home", group: "Home", key: "h",
    load: () => import("./home/index") },
  { path: "/", title: "Overview", icon: "overview", group: "Spend", key: "o", needs: "read_costs",
    load: () => import("./overview/index") },
  { path: "/explore", title: "Explore", icon: "explore", group: "Spend", key: "e", needs: "read_costs",
    load: () => import("./explore/index") },
  { path: "/compare", title: "Compare", icon: "explore", group: "Spend", key: "m", needs: "read_costs",
    load: () => import("./compare/index") },
  { path: "/workload", title: "Workloads", icon: "workload", group: "Spend", key: "w", needs: "read_costs",
    load: () => import("./workload/index") },
  { path: "/activity", title: "Activity", icon: "live", group: "Spend", key: "v", needs: "read_costs", currency: "none",
    load: () => import("./activity/index") },
  { path: "/units", title: "Unit costs", icon: "coins", group: "Spend", key: "z", needs: "read_costs", currency: "own",
    load: () => import("./units/index") },
  { path: "/explain", title: "Why", icon: "help", group: "", needs: "read_costs", hidden: true,
    load: () => import("./explain/index") },
  { path: "/coverage", title: "Coverage", icon: "coverage", group: "Spend", key: "c", needs: "read_costs",
    load: () => import("./coverage/index") },
  { path: "/budgets", title: "Budgets", icon: "coverage", group: "Plan", key: "t", needs: "read_costs", timeless: true, currency: "none",
    load: () => import("./budgets/index") },
  { path: "/forecast", title: "Forecast", icon: "forecast", group: "Plan", key: "r", needs: "read_costs", timeless: true, currency: "shown",
    load: () => import("./forecast/index") },
  { path: "/anomalies", title: "Anomalies", icon: "anomaly", group: "Plan", key: "d", needs: "read_costs", timeless: true, currency: "shown",
    load: () => import("./anomalies/index") },
  { path: "/alerts", title: "Alerts", icon: "bell", group: "Plan", key: "n", needs: "read_costs", timeless: true,
    load: () => import("./alerts/index") },
  { path: "/what-if", title: "What if", icon: "forecast", group: "Plan", key: "x", needs: "read_rules", unscopedOnly: true,
    load: () => import("./what-if/index") },
  { path: "/savings", title: "Savings", icon: "coins", group: "Save", key: "s", needs: "read_costs", currency: "shown",
    load: () => import("./savings/index") },
  { path: "/live", title: "Live", icon: "live", group: "Now", key: "l", needs: "read_live", timeless: true,
    load: () => import("./live/index") },
  { path: "/fleet", title: "Fleet", icon: "fleet", group: "Now", key: "f", needs: "read_fleet", timeless: true,
    load: () => import("./fleet/index") },
  { path: "/bills", title: "Bills", icon: "bills", group: "Books", key: "b", needs: "read_bills", unscopedOnly: true, currency: "own",
    load: () => import("./bills/index") },
  { path: "/invoices", title: "Invoices", icon: "invoices", group: "Books", key: "i", needs: "read_invoices", currency: "own",
    load: () => import("./invoices/index") },
  { path: "/approvals", title: "Approvals", icon: "check", group: "Rules", key: "y", needs: "read_costs", timeless: true, currency: "own",
    load: () => import("./approvals/index") },
  { path: "/guardrails", title: "Guardrails", icon: "warn", group: "Rules", key: "j", needs: "read_rules", unscopedOnly: true, currency: "own",
    load: () => import("./guardrails/index").then((pages) => ({ default: pages.GuardrailsPage })) },
  { path: "/limits", title: "Limits", icon: "coverage", group: "Rules", key: "k", needs: "read_rules", unscopedOnly: true, timeless: true, currency: "own",
    load: () => import("./guardrails/index").then((pages) => ({ default: pages.LimitsPage })) },
  { path: "/compliance", title: "Compliance", icon: "table", group: "Rules", key: "q", needs: "read_rules", unscopedOnly: true, currency: "own",
    load: () => import("./guardrails/index").then((pages) => ({ default: pages.CompliancePage })) },
  { path: "/policies", title: "Policies", icon: "policies", group: "Rules", key: "p", needs: "read_rules", unscopedOnly: true, timeless: true,
    load: () => import("./policies/index") },
  { path: "/admin", title: "Admin", icon: "admin", group: "Rules", key: "a", needs: "read_audit", timeless: true,
    load: () => import("./admin/index") },
  { path: "/account", title: "Account", icon: "account", group: "", key: "u", hidden: true, timeless: true,
    load: () => import("./account/index") },
];

// The amounts of a page follow the switch if it is about a month's costs, or says so.
export function currencyOf(page: Page | undefined, query: URLSearchParams): "shown" | "own" | "none" {
  if (page?.path === "/home" && ["clients", "statement", "start"].includes(query.get("view") ?? "")) return "own";
  if (page?.path === "/savings" && ["decided", "catalog"].includes(query.get("tab") ?? "")) return "own";
  return page?.currency ?? (page === undefined || page.timeless ? "none" : "shown");
}

export function pageAt(path: string): Page | undefined {
  return PAGES.find((page) => page.path === path);
}

export function mayOpen(page: Page, may: (permission: Permission) => boolean, isScoped: boolean): boolean {
  if (page.unscopedOnly && isScoped) return false;
  return !page.needs || may(page.needs);
}
