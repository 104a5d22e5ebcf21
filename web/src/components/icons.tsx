// Icons: strokes on a grid of 24, in the colour and size of the text around them.
const PATHS = {
  home: "M3 11l9-7 9 7M6 9v11h12V9M10 20v-6h4v6",
  overview: "M4 13h6V4H4zM14 20h6V4h-6zM4 20h6v-3H4z",
  explore: "M4 20V10M10 20V4M16 20v-8M22 20H2",
  live: "M3 12h4l3-8 4 16 3-8h4",
  fleet: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  workload: "M4 6h10M8 12h12M4 18h8",
  coverage: "M12 3a9 9 0 1 0 9 9h-9zM16 3.5A9 9 0 0 1 20.5 8H16z",
  bills: "M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6",
  invoices: "M7 3h8l4 4v14H7zM14 3v5h5M10 13h6M10 17h4",
  coins: "M9 14a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM14.500 10.200a5.500 5.500 0 1 1-4.300 4.300",
  policies: "M12 4v16M8 20h8M5 8h14M5 8l-3 6h6zM19 8l-3 6h6z",
  admin: "M12 3l8 3v6c0 4.5-3.2 7.6-8 9-4.800-1.400-8-4.500-8-9V6z",
  account: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c1-4 4-6 8-6s7 2 8 6",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M5 19l1.500-1.500M17.500 6.500L19 5",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z",
  system: "M4 5h16v11H4zM9 20h6M12 16v4",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  down: "M5 9l7 7 7-7",
  up: "M5 15l7-7 7 7",
  plus: "M12 5v14M5 12h14",
  check: "M5 12.500l4.500 4.500L19 7.500",
  warn: "M12 4l9 16H3zM12 10v4M12 17v.5",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.5",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1-1",
  star: "M12 4l2.500 5.200 5.700.8-4.100 4 1 5.700L12 17l-5.100 2.700 1-5.700-4.100-4 5.700-.8z",
  filter: "M4 6h16M7 12h10M10 18h4",
  trash: "M5 7h14M10 4h4M7 7l1 13h8l1-13",
  send: "M21 3L3 10l7 3 3 7zM10 13l5-5",
  out: "M14 4h5v16h-5M4 12h10M10 8l4 4-4 4",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.500 9.500A2.500 2.500 0 1 1 12 12.500V14M12 17v.5",
  table: "M4 5h16v14H4zM4 10h16M10 10v9",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l1.500 2h-15zM10 21.500h4M12 5V3",
  anomaly: "M3 17h5l3-12 3 14 2.500-7H21",
  forecast: "M3 18l6-7 4 3M13 14l8-9M13 14l8-3M13 14l8 4",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  key: "M15 13a4 4 0 1 0-4-4l-7 7v4h4l1-2h2v-2h2l1.500-1.500",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={`${size / 14}rem`}
      height={`${size / 14}rem`}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo({ size = 22 }: { size?: number }) {
  return (
    <svg class="logo" width={`${size / 14}rem`} height={`${size / 14}rem`} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M16 5v21M9 26.500h14M6 9.500h20" fill="none" stroke="currentColor" stroke-width="2.200" stroke-linecap="round" />
      <path d="M2.800 18L7 9.500l4.200 8.500a4.300 4.300 0 0 1-8.400 0zM20.800 18L25 9.500l4.200 8.500a4.300 4.300 0 0 1-8.400 0z" fill="currentColor" />
    </svg>
  );
}
