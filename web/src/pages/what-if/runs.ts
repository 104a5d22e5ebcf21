// The runs of the scenarios on the page: which run answers which scenario, and how far it is.
import { useEffect, useRef, useState } from "preact/hooks";
import { address, ApiError, getAt, post, remove } from "../../api/client";
import type { List, WhatIfDetail, WhatIfRun } from "../../api/types";
import type { Scenario } from "./line";

export interface Question {
  month: string;
  cluster: string;
  by: string;
  calibration: string;
  currency: string; // of the page; empty: the server's
}

export interface Runs {
  of: (scenario: Scenario) => WhatIfDetail | WhatIfRun | undefined;
  isKnown: boolean; // whether a scenario without a run has none
  error: ApiError | undefined;
  start: (scenario: Scenario) => Promise<void>;
  end: (run: WhatIfRun) => Promise<void>;
}

const POLL_MS = 1000;
const PAGE_RUNS = 100;

// What this page asks for. A run over the API may be of another cost, or less exact: it is no answer here.
const COST = "effective";
const ERROR_MAX = 5;
const WAIT_ERROR_MAX = 50;

const isUnderWay = (run: WhatIfRun) => run.state === "queued" || run.state === "running";

// Whether a run answers the scenario for this question.
function answers(run: WhatIfRun, scenario: Scenario, question: Question): boolean {
  return run.scenario === scenario.line && run.month === question.month && run.by === question.by && run.cost === COST && run.error_max === ERROR_MAX && run.wait_error_max === WAIT_ERROR_MAX &&
    run.calibration === question.calibration && (question.cluster === "" || run.cluster === question.cluster);
}

// The run that answers it. Of several the newest counts that has an answer or will have one: who asked again after
// one was done did so because the ledger has changed.
function answerOf(runs: WhatIfRun[], scenario: Scenario, question: Question): WhatIfRun | undefined {
  const all = runs.filter((run) => answers(run, scenario, question));
  return all.find((run) => run.state === "done" || isUnderWay(run)) ?? all[0];
}

async function allRuns(month: string, signal: AbortSignal): Promise<WhatIfRun[]> {
  const runs: WhatIfRun[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await getAt<List<WhatIfRun>>(address("/what-if/runs", { month, limit: PAGE_RUNS, ...(cursor && { cursor }) }), signal);
    runs.push(...page.data);
    cursor = page.next;
  } while (cursor);
  return runs;
}

export function useRuns(question: Question, scenarios: Scenario[]): Runs {
  const [runs, setRuns] = useState<WhatIfRun[]>([]);
  const [details, setDetails] = useState<Record<string, WhatIfDetail>>({});
  const [error, setError] = useState<ApiError>();
  const [round, setRound] = useState(0);
  const [asked, setAsked] = useState(""); // what `runs` is the answer to
  const kept = useRef(details);
  kept.current = details;
  const key = JSON.stringify([question, scenarios.map((one) => one.line)]);
  // A result in another currency is another answer.
  const detailKey = (run: WhatIfRun) => `${run.id} ${question.currency}`;

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        const list = await allRuns(question.month, abort.signal);
        const mine = scenarios.map((one) => answerOf(list, one, question)).filter((run): run is WhatIfRun => run !== undefined);
        const found: Record<string, WhatIfDetail> = {};
        for (const run of mine) {
          if (run.state !== "done") continue;
          found[detailKey(run)] = kept.current[detailKey(run)] ?? (await getAt<WhatIfDetail>(address(`/what-if/runs/${run.id}`), abort.signal));
        }
        if (abort.signal.aborted) return;
        setAsked(key);
        setRuns(list);
        setDetails(found);
        setError(undefined);
        if (mine.some(isUnderWay)) timer = setTimeout(() => void look(), POLL_MS);
      } catch (caught) {
        if (!abort.signal.aborted) setError(caught as ApiError);
      }
    };
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, round]);

  return {
    error,
    isKnown: asked === key,
    of: (scenario) => {
      const run = answerOf(runs, scenario, question);
      return run && (details[detailKey(run)] ?? run);
    },
    start: async (scenario) => {
      await post("/what-if/runs", {
        month: question.month, scenario: scenario.line, name: scenario.name, by: question.by, cost: COST, error_max: ERROR_MAX, wait_error_max: WAIT_ERROR_MAX,
        ...(question.cluster && { cluster: question.cluster }),
        ...(question.calibration && { calibration: question.calibration }),
      });
      kept.current = {};
      setRound((n) => n + 1);
    },
    end: async (run) => {
      await remove(`/what-if/runs/${run.id}`);
      setRound((n) => n + 1);
    },
  };
}
