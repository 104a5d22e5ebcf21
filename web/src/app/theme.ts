// The theme: light, dark, or the system's. Charts are notified, since a canvas does not follow a stylesheet.
import { useEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const changed = new Set<() => void>();
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => changed.forEach((one) => one()));

// Printing always uses the light theme.
addEventListener("beforeprint", () => void (document.documentElement.dataset["theme"] = "light"));
addEventListener("afterprint", () => chooseTheme(chosenTheme()));

export function chosenTheme(): Theme {
  const kept = localStorage.getItem("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem("theme");
    delete document.documentElement.dataset["theme"];
  } else {
    localStorage.setItem("theme", theme);
    document.documentElement.dataset["theme"] = theme;
  }
  changed.forEach((one) => one());
}

// The current theme; follows the choice and the system.
export function useShownTheme(): "light" | "dark" {
  const shown = () => {
    const chosen = chosenTheme();
    return chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
  };
  const [theme, set] = useState<"light" | "dark">(shown);
  useEffect(() => {
    const look = () => set(shown());
    changed.add(look);
    return () => void changed.delete(look);
  }, []);
  return theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, set] = useState(chosenTheme);
  useEffect(() => {
    const look = () => set(chosenTheme());
    changed.add(look);
    return () => void changed.delete(look);
  }, []);
  return [theme, chooseTheme];
}
