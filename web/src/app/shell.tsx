// The frame around every page: navigation, month, search, theme, and the page itself.
import { Component, type ComponentType } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { doubt, useAway } from "../api/connection";
import { IconButton, Segments } from "../components/controls";
import { Icon, Logo } from "../components/icons";
import { Empty, ErrorBoundary, Skeleton } from "../components/states";
import { currencyOf, GROUPS, mayOpen, pageAt, PAGES, type Page } from "../pages/registry";
import { addMonths, words } from "../util/text";
import { AlertsProvider, Bell, useAlerts } from "./alerts";
import { BehindNote, CurrencyProvider, CurrencySwitch, Freshness, OwnCurrencyNote, RatesNote, useCurrencies } from "./currency";
import { Help } from "./help";
import { useKeys } from "./keyboard";
import { MonthPicker, MonthProvider, useMonth, useMonths } from "./month";
import { Palette, type Command } from "./palette";
import { href, navigate, setQuery, useRoute } from "./router";
import { useSession } from "./session";
import { chooseTheme, useTheme, type Theme } from "./theme";
import { toast } from "./toasts";

function useAllowed(): Page[] {
  const { may, user } = useSession();
  const isScoped = (user?.scope.length ?? 0) > 0;
  return PAGES.filter((page) => mayOpen(page, may, isScoped));
}

function Navigation({ pages, path, onGo }: { pages: Page[]; path: string; onGo: () => void }) {
  const { query } = useRoute();
  const month = query.get("month");
  return (
    <nav aria-label="Pages">
      {GROUPS.map((group) => {
        const mine = pages.filter((page) => page.group === group && !page.hidden);
        if (mine.length === 0) return null;
        return (
          <div key={group} class="nav-group">
            {group === "Home" ? <h2 class="sr-only">{group}</h2> : <h2>{group}</h2>}
            <ul>
              {mine.map((page) => (
                <li key={page.path}>
                  <a
                    href={href(page.path, { month })}
                    aria-current={page.path === path ? "page" : undefined}
                    onClick={onGo}
                  >
                    <Icon name={page.icon} />
                    {page.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

function ThemeSwitch() {
  const [theme, choose] = useTheme();
  return (
    <Segments<Theme>
      label="Theme"
      chosen={theme}
      onChoose={choose}
      options={[
        { key: "light", title: "Light", icon: "sun" },
        { key: "system", title: "System", icon: "system" },
        { key: "dark", title: "Dark", icon: "moon" },
      ]}
    />
  );
}

function Who() {
  const { user, signOut } = useSession();
  if (!user) return null;
  const scope = user.scope.map((one) => `${one.dimension} ${one.values.join(", ")}`).join("; ");
  return (
    <div class="who">
      <a href="/account" class="who-name" title={scope ? `sees ${scope}` : undefined}>
        <span class="avatar" aria-hidden="true">
          {(user.display_name || user.name).slice(0, 1).toUpperCase()}
        </span>
        <span class="who-text">
          <strong class="cut">{user.display_name || user.name}</strong>
          <small class="cut">{words(user.role)}{scope && ` · ${scope}`}</small>
        </span>
      </a>
      <IconButton
        icon="out"
        label="Sign out"
        onClick={() => void signOut().catch((error: Error) => toast(error.message, "bad"))}
      />
    </div>
  );
}

// A page's code, fetched when it is first shown.
class LazyPage extends Component<{ page: Page }, { path?: string; View?: ComponentType; error?: Error }> {
  override state: { path?: string; View?: ComponentType; error?: Error } = {};
  fetch() {
    const { page } = this.props;
    page
      .load()
      .then((module) => this.setState({ path: page.path, View: module.default, error: undefined }))
      .catch((error: Error) => {
        this.setState({ path: page.path, View: undefined, error: new Error("The page's code could not be loaded.", { cause: error }) });
        doubt();
        void this.again();
      });
  }
  // A newer version of the server has other files: then the page is loaded as a whole, once.
  async again() {
    const answer = await fetch(location.href, { cache: "no-store" }).catch(() => null);
    const state = (history.state ?? {}) as { reloaded?: boolean };
    if (!answer?.ok || state.reloaded) return;
    history.replaceState({ reloaded: true }, "");
    location.reload();
  }
  override componentDidMount() {
    this.fetch();
  }
  override componentDidUpdate(before: { page: Page }) {
    if (before.page !== this.props.page) this.fetch();
  }
  override render() {
    const { path, View, error } = this.state;
    if (error && path === this.props.page.path) throw error;
    if (!View || path !== this.props.page.path) return <Skeleton lines={8} />;
    return <View />;
  }
}

// What the pages show while the server is away, and since when.
function Away() {
  const since = useAway();
  if (!since) return null;
  return (
    <div class="away" role="alert">
      <Icon name="warn" />
      <span>
        <strong>The server does not answer</strong> since {since.toLocaleTimeString("en", { hour12: false })}. What you see is from before; it is asked again every few seconds.
      </span>
    </div>
  );
}

function Content({ path, pages }: { path: string; pages: Page[] }) {
  const { ready } = useMonth();
  const page = pageAt(path);
  const isHome = path === "/" && !!page && !pages.includes(page); // who may not see it begins at Home
  useEffect(() => {
    if (isHome) navigate("/home", { replace: true });
  }, [isHome]);
  if (isHome) return <Skeleton lines={8} />;
  if (!page) {
    return <Empty icon="search" title="Page not found" action={{ href: "/home", title: "Go to Home" }} />;
  }
  if (!pages.includes(page)) {
    return (
      <Empty icon="key" title="You may not see this page">
        Your role does not include it. Ask somebody who manages users.
      </Empty>
    );
  }
  if (!ready) return <Skeleton lines={8} />;
  return (
    <ErrorBoundary resetKey={path}>
      <LazyPage page={page} />
    </ErrorBoundary>
  );
}

// On a new page, screen readers announce its title, and focus starts at its beginning.
function useArrival(path: string, title: string) {
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${title} · pennyweight`;
    if (first.current) {
      first.current = false;
      return;
    }
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [path]);
  return main;
}

export function Shell() {
  const { path, query } = useRoute();
  const pages = useAllowed();
  const months = useMonths();
  const { signOut, may } = useSession();
  const currencies = useCurrencies(may("read_costs") && months.ready ? months.month : null);
  const alerts = useAlerts(may("read_costs"));
  const [dialog, setDialog] = useState<"" | "search" | "help">("");
  const [drawer, setDrawer] = useState(false);
  const menu = useRef<HTMLSpanElement>(null);
  const closeDrawer = () => {
    setDrawer(false);
    menu.current?.querySelector("button")?.focus();
  };
  const page = pageAt(path);
  const title = page?.title ?? "Not found";
  const isTimeless = page?.timeless ?? false;
  const currency = currencyOf(page, query);
  const main = useArrival(path, title);

  const keys = useMemo(
    () => ({
      go: (letter: string) => {
        const page = pages.find((one) => one.key === letter);
        if (page) navigate(href(page.path, { month: months.month }));
      },
      search: () => setDialog("search"),
      help: () => setDialog("help"),
      month: (step: number) => setQuery({ month: addMonths(months.month, step), from: null, to: null }),
    }),
    [pages.length, months.month],
  );
  useKeys(keys);

  const actions: Command[] = [
    { title: "Light theme", group: "Commands", icon: "sun", run: () => chooseTheme("light") },
    { title: "Dark theme", group: "Commands", icon: "moon", run: () => chooseTheme("dark") },
    { title: "System theme", group: "Commands", icon: "system", run: () => chooseTheme("system") },
    { title: "Keyboard shortcuts", group: "Commands", icon: "help", detail: "?", run: () => setDialog("help") },
    { title: "Print", group: "Commands", icon: "invoices", run: () => print() },
    { title: "Sign out", group: "Commands", icon: "out", run: () => void signOut() },
  ];

  return (
    <MonthProvider value={months}>
     <CurrencyProvider value={currencies}>
     <AlertsProvider value={alerts}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to content
      </a>
      <div class={drawer ? "shell drawer-open" : "shell"} onKeyDown={(event) => drawer && event.key === "Escape" && closeDrawer()}>
        <aside class="side" id="side">
          <a class="brand" href="/home" onClick={() => setDrawer(false)}>
            <Logo />
            pennyweight
          </a>
          <Navigation pages={pages} path={path} onGo={() => setDrawer(false)} />
          <div class="side-foot">
            <ThemeSwitch />
            <Who />
          </div>
        </aside>
        <button class="veil" type="button" tabIndex={-1} aria-hidden="true" onClick={() => setDrawer(false)} />
        <div class="body">
          <header class="top">
            <span class="top-menu" ref={menu}>
              <IconButton icon="menu" label="Pages" expanded={drawer} onClick={() => setDrawer(!drawer)} />
            </span>
            <button class="search-button" type="button" aria-label="Search" onClick={() => setDialog("search")}>
              <Icon name="search" />
              <span>Search</span>
              <kbd>/</kbd>
            </button>
            {isTimeless && <span class="top-space" />}
            {currency === "shown" && <CurrencySwitch />}
            {!isTimeless && <MonthPicker />}
            <Bell />
            <span class="top-help">
              <IconButton icon="help" label="Keyboard shortcuts" onClick={() => setDialog("help")} />
            </span>
          </header>
          <Away />
          <main id="main" class="main" ref={main} tabIndex={-1} aria-label={title}>
            {currency === "own" ? <OwnCurrencyNote /> : currency === "shown" && !isTimeless ? <RatesNote /> : null}
            {!isTimeless && months.ready && may("read_costs") ? <BehindNote month={months.month} /> : null}
            <Content path={path} pages={pages} />
            {!isTimeless && may("read_costs") && <Freshness />}
          </main>
        </div>
      </div>
      <Palette open={dialog === "search"} onClose={() => setDialog("")} pages={pages} actions={actions} />
      <Help open={dialog === "help"} onClose={() => setDialog("")} pages={pages} />
     </AlertsProvider>
     </CurrencyProvider>
    </MonthProvider>
  );
}
