// The alerts that hold now: asked once for all, each minute while the page is shown; the bell in the top bar
// and the page Alerts show them.
import { createContext } from "preact";
import { useContext, useEffect } from "preact/hooks";
import { useQuery, type Query } from "../api/hooks";
import type { Alert, Alerts } from "../api/types";
import { Icon } from "../components/icons";
import { plural } from "../util/text";

const EVERY_MS = 60_000;

const NOTHING: Query<Alerts> = { data: undefined, error: undefined, loading: false, reload: () => {} };
const AlertsContext = createContext<Query<Alerts>>(NOTHING);
export const AlertsProvider = AlertsContext.Provider;
export const useAlertsNow = () => useContext(AlertsContext);

export function useAlerts(mayRead: boolean): Query<Alerts> {
  const query = useQuery<Alerts>(mayRead ? "/alerts" : null);
  const { reload } = query;
  useEffect(() => {
    if (!mayRead) return;
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), EVERY_MS);
    return () => clearInterval(timer);
  }, [mayRead, reload]);
  return query;
}

export const isTold = (alert: Alert) => !alert.is_silent;

export function Bell() {
  const { data } = useAlertsNow();
  if (!data) return null;
  const loud = data.alerts.filter(isTold);
  const isCritical = loud.some((alert) => alert.severity === "critical");
  const label = loud.length === 0 ? "No alerts" : `${plural(loud.length, "alert")}${isCritical ? ", some critical" : ""}`;
  return (
    <a class={`bell${isCritical ? " bell-critical" : ""}`} href="/alerts" aria-label={label} title={label}>
      <Icon name="bell" />
      {loud.length > 0 && <span class="bell-count" aria-hidden="true">{loud.length > 99 ? "99+" : loud.length}</span>}
    </a>
  );
}
