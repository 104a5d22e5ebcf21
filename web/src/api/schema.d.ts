// Made by web/types.mjs from docs/api/openapi; not to be edited.
export interface paths {
    "/api/v1/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Jobs, and GPU-, CPU-, memory-, node- and wall-hours, from what workloads held.
         * @description Needs neither a bill nor an allocation. With `as`, the figures as sreport and Open XDMoD name
         *     them; with `measures`, also utilisation and energy as /api/v1/usage has them, for which `month` or
         *     `from` must be there. A month is a calendar month of the policy's time zone.
         */
        get: operations["getActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/advice": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What to change, and what it would save a month.
         * @description From one month of the ledger. Savings are of 730 hours, with a range; the total has what can be
         *     followed together. Users with a scope see advice about their workloads, and none about the
         *     fleet.
         */
        get: operations["getAdvice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/advice/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was decided about advice, the latest first.
         * @description Users with a scope see what was decided about their workloads.
         */
        get: operations["listAdviceDecisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/advice/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * By team, what advice of a month found, and what of it was accepted, done and realised.
         * @description Users with a scope see the part of their workloads.
         */
        get: operations["getAdviceProgress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/advice/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept, dismiss, report as done, verify or reopen an advice.
         * @description Kept in the ledger and recorded in the audit log. `verify` compares the ledger before and after
         *     the day since which it is in effect, for the same work. Users with a scope decide about advice
         *     for their workloads, and find no other.
         */
        post: operations["decideAdvice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Alerts that hold now, those that ended, silences and receivers.
         * @description Users with a scope see the alerts of budgets in it and unusual days of its values, and neither
         *     silences nor receivers.
         */
        get: operations["getAlerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/receivers/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test to a receiver.
         * @description Sends a notification that says who tests, and waits for the receiver's answer. Alertmanager and
         *     PagerDuty are told at once that it has ended.
         */
        post: operations["testReceiver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/silences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Silence alerts until a day.
         * @description It takes effect at once. Silenced alerts go on and are listed; receivers are told when the silence
         *     is over and they still hold.
         */
        post: operations["putSilence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/silences/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Lift a silence that somebody put.
         * @description Those of the configuration are changed there.
         */
        delete: operations["liftSilence"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/allocations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Divide the bill lines of an open month among those who held the GPUs, as `pennyweight allocate` does. */
        post: operations["allocateMonth"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What people wrote beside the costs of some days.
         * @description Of costs that the user sees whole, and what was written for everyone. The latest days come first.
         */
        get: operations["listAnnotations"];
        put?: never;
        /**
         * Write something beside the costs of some days.
         * @description Users with a scope write about costs that lie in it, named by `filter`, and not for everyone. Nobody can change an annotation; its
         *     author or an admin can remove it, and the audit log keeps it.
         */
        post: operations["addAnnotation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/annotations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove an annotation.
         * @description Its author can, and an admin without a scope.
         */
        delete: operations["removeAnnotation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/anomalies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Days whose cost is unusual, and what explains them.
         * @description Complete days that cost far more or less than the same weekday of the 8 weeks before. Days in a
         *     row are one row. Volume, price, mix and other add up to the difference from the 4 weeks
         *     before.
         */
        get: operations["getAnomalies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/anomalies/verdicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Say whether unusual days were expected.
         * @description What was expected raises no alert, where alerts look at that dimension (`alerts.anomalies_by`). It is learnt from: for half a year, a later change of the same
         *     value in the same direction that is no larger, neither in deviations nor in money a day, is expected
         *     too. The last word counts. Users with a scope say it of the dimension of their scope only; what they
         *     say counts for those days only, unless they may manage alerts.
         */
        post: operations["postAnomalyVerdict"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Requests for what a guardrail stops, the newest first.
         * @description Users with a scope see their own requests, and those of workloads whose labels lie in it.
         */
        get: operations["listApprovals"];
        put?: never;
        /**
         * Ask for approvals of what a manifest starts.
         * @description The workloads of a manifest, job script or plan are priced and judged by the rules. For each that
         *     needs an approval a request is filed, or the one that is open is returned.
         */
        post: operations["requestApprovals"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A request, the budgets after it, and its token once it is approved. */
        get: operations["getApproval"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{id}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Approve or refuse a request.
         * @description Nobody approves their own request, and above guardrails.approvals.two_persons_above it takes two
         *     persons. A refusal also takes an approval back.
         */
        post: operations["decideApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The audit log, the newest first. */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the audit log is intact.
         * @description Each entry has the hash of the entry before it, and the last entry is kept signed beside the log, so
         *     that a log that was cut, continued or rewritten is found out. Users, roles, scopes and tokens must be
         *     what the entries say.
         */
        get: operations["verifyAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budget-definitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What budgets allow, by name.
         * @description Those of the configuration and those that people set. Users with a scope see the budgets whose
         *     scope lies within theirs.
         */
        get: operations["listBudgetDefinitions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far budgets have come, and when they are exhausted.
         * @description The budgets of the configuration and those that people set, a table for each currency and one for GPU-hours. What was
         *     spent includes days that are not complete; the forecast of the rest begins after the last
         *     complete day. While work with a time limit runs, `committed` is what it will still cost. Users with a scope see the budgets whose scope lies within theirs.
         */
        get: operations["getBudgets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a budget.
         * @description Replaces what was set before, and keeps it as a version. A budget of the configuration is
         *     changed there. Users with a scope set budgets whose filters name some of its values.
         */
        put: operations["setBudget"];
        post?: never;
        /** Remove a budget that was set. */
        delete: operations["removeBudget"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/budgets/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who set a budget, when, and to what. */
        get: operations["listBudgetVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/capacity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * When GPUs run out, how many are unused, and what to buy or let go.
         * @description Two tables: for each GPU model and region the GPUs that are there, the most that were held at one time, the forecast of
         *     that peak, and how probable it is that a peak exceeds them within 30, 60 and 90 days, without those whose reservation
         *     ends until then; and the reservations and commitments that cover nodes, with their ends. Probabilities are empty where
         *     the history is too short.
         */
        get: operations["getCapacity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * GPU models, what they can do, and what an hour of one costs.
         * @description The cheapest list price of each model at each provider and in each currency, dense TFLOPS, and the
         *     tier as the trade names it. With `runs_on`, `busy`, `bandwidth` and `memory_gib`, also which models
         *     would run that work, for how long and for how much. Prices may be those of your price file.
         */
        get: operations["getGpuCatalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What each client spent on training, inference and storage, its budgets, and the margin.
         * @description A table for each currency. Training, inference, storage and other add up to the cost. Revenue and margin are empty where
         *     invoice.rates has no rates. Budgets are those whose scope is the client alone, as at the end of the month, or as of
         *     today while it goes on.
         */
        get: operations["getClients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clients/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The month of each client as a PDF. */
        get: operations["getClientsReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/compliance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where work of clients ran that may not run there, or beside others.
         * @description The charges and facts of a month, held to guardrails.clients: regions, accounts, node pools,
         *     dedicated nodes, and GPUs shared with others without MIG. Who may read the audit log also
         *     gets who sees what the clients are charged, and who changed what in the month. In the month that
         *     goes on, the first table is what runs now, held to the same terms, if serve knows it.
         */
        get: operations["getCompliance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/compliance/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same as a PDF. */
        get: operations["getComplianceReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Costs by any dimensions.
         * @description A table for each currency. Cost without an owner is listed under its kind in parentheses, such
         *     as (unallocated). An answer in JSON has at most 50,000 rows; CSV, JSON lines and Parquet are
         *     streamed and may be longer.
         */
        get: operations["getCosts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/coverage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How much of the GPU spend reaches an owner, and why the rest does not.
         * @description Users with a scope see what its workloads were charged, and no unallocated cost.
         */
        get: operations["getCoverage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/currencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The currencies that amounts can be shown in, and the exchange rates of a month. */
        get: operations["listCurrencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dimensions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The dimensions that costs can be grouped and filtered by. */
        get: operations["listDimensions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dimensions/{name}/values": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Values of a dimension, the most expensive first. */
        get: operations["listDimensionValues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Changes, as server-sent events.
         * @description `live` after each live update, with the data of GET /api/v1/live/now; `rollup` with
         *     {"version": n} when costs have changed. A comment after every 15 seconds of silence. A stream
         *     ends after five minutes, and browsers open the next one by themselves. It ends within a second
         *     once the user loses access: the session is over, the token revoked or expired, or the user
         *     changed.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How an amount comes about.
         * @description What an amount is made of, and its postings, the largest first, with an explanation of one of
         *     them: of a charge (`charge`), of a row of a report (`by` and `key`), of a whole report (`by` alone),
         *     or of the cost that a spread rule has moved (`bucket`). With the filters, cost and currency of the
         *     report the total is that of /costs, to the last digit. Users with a scope see only its postings,
         *     others without names, and not the cost of the whole charge.
         */
        get: operations["explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/fleet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Each node and GPU, who holds it, how busy it is, and its cost.
         * @description Users with a scope see the nodes on which it holds something, others without names, and as the
         *     price of a node the part paid by the scope's workloads that are only on that node.
         */
        get: operations["getFleet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/forecast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the next days and months will cost, with ranges.
         * @description From the daily costs of up to 400 complete days. The method is chosen by its errors on earlier
         *     days; ranges that did not hold then are null. No table if nothing was spent.
         */
        get: operations["getForecast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/guardrails/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the rules would have decided in a month.
         * @description Workloads of the ledger, judged by what is known of them: who would have been stopped, asked or
         *     warned, and what that work cost. A run is judged by the time that it took.
         */
        get: operations["replayGuardrails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/import/prometheus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An exposition in the text format of Prometheus or OpenMetrics. */
        post: operations["importExposition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Imports, the newest first. */
        get: operations["listImports"];
        put?: never;
        /**
         * Import a file, as `pennyweight import` does.
         * @description The body is the file: a bill, an inventory, a list of jobs or pods, a capture of devices; also
         *     compressed with gzip or zstd. Its format is detected from its content. `serve.limits.body` bounds
         *     its size, and a compressed file may unpack to 1 GiB. With `preview=true` nothing is written, and the
         *     answer says what the file is and what it would change.
         */
        post: operations["importFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/imports/{number}/rejected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rows of an import's file that were set aside, since they are invalid or contradict the ledger.
         * @description A row is set aside once, however often its file came: imports of the same file show the same
         *     rows.
         */
        get: operations["listRejectedRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Issued invoices, by number.
         * @description Users with a scope get the invoices of its customers.
         */
        get: operations["listInvoices"];
        put?: never;
        /**
         * Issue what is missing for a closed month, for good.
         * @description A month is issued as a whole. If invoices were issued before, only the differences are issued,
         *     as credit notes and supplements, which need a reason. Without differences, nothing is issued.
         */
        post: operations["issueInvoices"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invoices/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drafts of a month's invoices; nothing is stored. */
        post: operations["previewInvoices"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invoices/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One invoice as it was issued.
         * @description By default as the customer may have it. With view=books it includes its reconciliation with the
         *     provider's bill, and as JSON it is the stored document, byte for byte; that needs the permission
         *     issue_invoices, and no scope.
         */
        get: operations["getInvoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invoices/{number}/dispatch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Note that an invoice was sent to its customer.
         * @description Nothing is sent by it, and the invoice itself does not change. It replaces an earlier note.
         */
        put: operations["sendInvoice"];
        post?: never;
        /** Note that an invoice was not sent after all. */
        delete: operations["unsendInvoice"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invoices/{number}/payment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Note that an invoice was paid.
         * @description The invoice itself does not change. It replaces an earlier note.
         */
        put: operations["payInvoice"];
        post?: never;
        /** Note that an invoice was not paid after all. */
        delete: operations["unpayInvoice"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/known-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is known of days to come, by day.
         * @description Events of the configuration and those that people keep: forecasts and budgets count them. Users with a scope see those about its
         *     values, and about everything.
         */
        get: operations["listKnownEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/known-events/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Keep an event, or change it.
         * @description Replaces what was kept before, and keeps that as a version. An event of the configuration is changed there. Users with a scope keep
         *     events about its values, with `by` and `key`.
         */
        put: operations["setKnownEvent"];
        post?: never;
        /** Remove an event that was kept. */
        delete: operations["removeKnownEvent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/known-events/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who kept an event, when, and what it was. */
        get: operations["listKnownEventVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How much of each limit of guardrails.limits is used this month.
         * @description Money, GPU-hours, and GPUs at once. A hard limit that is exhausted, or can't be measured,
         *     stops new work at admission. What runs it stops only with `stop_running`, and only by whoever takes
         *     the list of getLimitStops.
         */
        get: operations["getLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/limits/stops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The work that limits stop while it runs, for whoever stops it.
         * @description Work that runs, of hard limits with `stop_running` that are used up: `announced` while the grace goes
         *     on, `due` after it, `exempt` where an exemption holds. Nothing is due that nobody was told of, while
         *     the limit can't be measured, or while it is not known what runs. This request stops nothing.
         */
        get: operations["getLimitStops"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What runs now, its owners and its cost per hour.
         * @description Where jobs have time limits, `ends_by` says when a job's ends it, and `cost_to_limit` what it
         *     costs from now until then at its present cost per hour.
         */
        get: operations["getLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/live/now": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The current cost per hour, by cluster. */
        get: operations["getLiveNow"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document. */
        get: operations["getDocument"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/periods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Accounting months, the latest first. */
        get: operations["listPeriods"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/periods/{month}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Close a month for good. */
        post: operations["closePeriod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The policies that runs used, and the configured one, by first use. */
        get: operations["listPolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The differences between two policies, in words by rule, and in their texts. */
        get: operations["comparePolicies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/policies/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One policy, as canonical text and in words. */
        get: operations["getPolicy"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/profitability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What each client is charged for a month, what it cost, and the margin.
         * @description A table for each currency. Revenue is the net of the month's issued documents, of drafts if there are none, before tax, at the internal rates of
         *     invoice.rates; the cost, with that of what nobody is charged, adds up to the bill.
         */
        get: operations["getProfitability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reconcile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sums of charges and of their postings, compared to the last digit. */
        get: operations["reconcile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reconcile/lines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Charges, each with the sum of its postings, by id. */
        get: operations["listReconcileLines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/restatements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Changes by later deliveries, with both versions, where they are booked, and why. */
        get: operations["getRestatements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The roles and their permissions. */
        get: operations["listRoles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Allocation runs, by cluster, month and number, including earlier ones. */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Values of dimensions that have a text in them, the most expensive of each first.
         * @description Looks through the dimensions of the policy, and workloads, nodes, clusters, resources, services and
         *     accounts. Upper and lower case are the same.
         */
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The signed-in user, and the ways to sign in. */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in with a name and a password, and a code if there is a second factor.
         * @description Sets the session cookie. If the password is right and a code is missing, the problem has
         *     `"needs": "code"`. Wrong names and wrong passwords get the same answer.
         */
        post: operations["signIn"];
        /** Sign out. The session ends at once for every holder of its cookie. */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm who is signed in, for changes that need a fresh sign-in.
         * @description Users, roles, passwords of others, tokens, second factors and closed months change only with a
         *     sign-in of the last minutes (`serve.fresh_sign_in`). Otherwise they answer 403 with
         *     `"needs": "fresh_sign_in"`; confirm with this, and send the request again. Who signed in by OpenID
         *     Connect (`"by": "openid"`) signs in there again.
         */
        post: operations["confirmSignIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/openid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sign in through the OpenID provider; for browsers. */
        get: operations["beginOpenId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/openid/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The redirect target of the OpenID provider.
         * @description The first sign-in creates the user with the role and scope that follow from the claims; later
         *     sign-ins update them. A name that another user has here is refused.
         */
        get: operations["finishOpenId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/openid/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The OpenID provider says that somebody has signed out there.
         * @description OpenID Connect Back-Channel Logout 1.0. Ends the person's sessions at once, and suspends their
         *     tokens until they sign in again. A token is accepted once; it must name the person (`sub`).
         */
        post: operations["signOutByOpenId"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Change your own password. Your other sessions end. */
        put: operations["changePassword"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Confirm the second factor with a first code. */
        put: operations["confirmTotp"];
        /** Begin to add a second factor (TOTP). A first code makes it effective. */
        post: operations["beginTotp"];
        /** Remove your own second factor. */
        delete: operations["removeTotp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/totp/codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make recovery codes; earlier ones are no longer valid.
         * @description Each replaces the code of your second factor once, when it is lost. Store them elsewhere.
         */
        post: operations["makeRecoveryCodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where you are signed in, the latest first. */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        /** Sign out everywhere else. */
        delete: operations["endOtherSessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End one of your sessions. */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/staleness": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The open months that were last allocated before facts came which may change them.
         * @description The figures of these months are older than what is imported. An empty list: every figure has all that is known. A month that was never allocated has no `allocated_at`.
         */
        get: operations["getStaleness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/statements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The months in which the customers of the own scope are charged something, the latest first.
         * @description Users with a scope see the customers of it, if it has exactly one dimension, the one that invoices are made by. With any other
         *     scope, and as a client without a scope, the list is empty.
         */
        get: operations["listStatements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/statements/{month}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the customers of the own scope are charged for a month, by part.
         * @description A table for each currency: usage by the details of the invoices (`invoice.detail`, else by project), credits, and shares of idle and shared cost. The amounts
         *     are those of the invoices, or of drafts until there are some. It says nothing of others, of what the bill says, or of margins. No tables: nothing is charged.
         */
        get: operations["getStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The figures of a month, of the month before, and of the same days of that month. */
        get: operations["getSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your own tokens; those of others with manage_users. */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create a token for a program. It has at most its user's permissions, and expires.
         * @description Needs a session; a token can't create tokens.
         */
        post: operations["addToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a token; those of others with manage_users. */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/top": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What runs now, in the form of `pennyweight top`.
         * @description The same as GET /api/v1/live, optionally laid out for a terminal.
         */
        get: operations["getTop"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/units": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The cost per request, per million tokens or per training job. */
        get: operations["getUnits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How busy GPUs were, their memory and energy, as telemetry saw them.
         * @description Of devices where every dimension is a GPU's or its node's, else of those who held them. What was
         *     not seen is not taken for idle: `seen_hours` says how much was. `month` or `from` must be there, and
         *     at most 400 days.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All users, by name. */
        get: operations["listUsers"];
        put?: never;
        /** Add a user; a local one gets a one-time password that must be changed. */
        post: operations["addUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One user. */
        get: operations["getUser"];
        put?: never;
        post?: never;
        /** Remove a user with their sessions, tokens and saved views. */
        delete: operations["removeUser"];
        options?: never;
        head?: never;
        /** Change a user. Absent fields stay as they are; a change of role, scope or `disabled` ends the user's sessions. */
        patch: operations["changeUser"];
        trace?: never;
    };
    "/api/v1/users/{name}/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a local user a one-time password. Their sessions end, and their tokens are revoked. */
        post: operations["resetPassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{name}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Sign a user out everywhere. */
        delete: operations["endSessionsOfUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your own saved views and those that others share with you, by name. */
        get: operations["listViews"];
        put?: never;
        /** Save a view. */
        post: operations["addView"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove one of your saved views. */
        delete: operations["removeView"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views/{id}/schedule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Send one of your saved views by day, week or month.
         * @description The costs of each whole day, week (from Monday) or month are sent once they are there, at `alerts.digest_hour`; the last whole one at once. Only views of Explore are
         *     sent. They show what your role and scope show when they are sent, by the grouping, filters, cost and currency of the view. Without a receiver they go to your own mail
         *     address. Other receivers need the permission manage_budgets.
         */
        put: operations["scheduleView"];
        post?: never;
        /** Send a view no longer. */
        delete: operations["unscheduleView"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/what-if/choices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a scenario of a month can be about. */
        get: operations["getWhatIfChoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/what-if/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Replayed scenarios, the newest first.
         * @description Results are kept for a day, while there is room for them and the program runs.
         */
        get: operations["listWhatIfRuns"];
        put?: never;
        /**
         * Replay a month of a cluster under a scenario.
         * @description Nothing of the ledger changes. One scenario is replayed at a time; each user may have three that
         *     wait or run. The same question about the same ledger is answered by the run that there is (200).
         */
        post: operations["startWhatIfRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/what-if/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far a run is, and its result. */
        get: operations["getWhatIfRun"];
        put?: never;
        post?: never;
        /**
         * Cancel a run that waits or runs, or forget one that has ended.
         * @description Only who started it may, and who manages users.
         */
        delete: operations["endWhatIfRun"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/what-if/runs/{id}/{table}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A table of a result, as JSON, CSV, JSON lines or Parquet; or all of them as a PDF. */
        get: operations["getWhatIfTable"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which scopes workers have allocated and which are due again, by month and cluster.
         * @description Workers (`pennyweight work`) allocate scopes, on any number of machines. A scope is due if its current run was not made by a worker, used another policy, or if facts that matter to it have arrived since.
         */
        get: operations["listWork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One workload in a month, with its attempts and days. */
        get: operations["getWorkload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The cost of each workload.
         * @description CSV and JSON lines have all workloads, without their first and last days.
         */
        get: operations["listWorkloads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/write": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Samples by Prometheus remote_write, 1.0 and 2.0. */
        post: operations["remoteWrite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/approve/{link}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The request behind the link of an approver, as a page.
         * @description Opening a link decides nothing. It is signed, of one request and one approver, and decides until its
         *     end; it needs no sign-in, and an account of that approver that may still approve.
         */
        get: operations["showLinkedApproval"];
        put?: never;
        /**
         * Decide by the link of an approver.
         * @description What the form of the page sends. The decision is that of `link:` and the approver's name, a link
         *     decides once, and each refused attempt with a link of this server is in the audit log.
         */
        post: operations["decideLinkedApproval"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the server is alive. */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The server's own metrics, for Prometheus. */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the server is ready for requests and telemetry. */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What somebody decided about an advice, or what the ledger showed of it. */
        AdviceStep: {
            /** @description Its id. */
            advice: string;
            /** @enum {unknown} */
            action: "accept" | "dismiss" | "done" | "verify" | "reopen";
            /** Format: date-time */
            at: string;
            by: string;
            reason: string;
            /**
             * Format: date
             * @description dismiss: shown again on; done: in effect since; verify: the last day compared.
             */
            day?: string;
            /** @description The month that it was learned from. */
            month: string;
            kind: string;
            cluster: string;
            subject: string;
            change: string;
            currency: string;
            /** @description What it was expected to save a month. */
            expected: string;
            /** @description verify: what it saves a month for the same work; negative: it costs more. */
            realised?: string;
            /** @description verify: how that was worked out. */
            findings: string[];
        };
        Alert: {
            /** @example budget_spent */
            rule: string;
            /** @description With the rule it names the alert. */
            scope: string;
            /** @description What it is about: a budget, a team, a workload, a node. */
            subject: string;
            /** @enum {unknown} */
            severity: "warning" | "critical";
            /** @description May be empty. */
            owner: string;
            /** @description One sentence, with the figures. */
            summary: string;
            since: components["schemas"]["Instant"];
            seen: components["schemas"]["Instant"];
            /** @description When receivers were last told. */
            told: components["schemas"]["Instant"] | null;
            ended: components["schemas"]["Instant"] | null;
            /** @description Nobody is told: it is silenced, or a graver alert says it already. */
            is_silent: boolean;
        };
        AlertSilence: {
            /** @description Null for those of the configuration. */
            id: components["schemas"]["MaybeText"];
            /** @description Null: any. */
            rule: components["schemas"]["MaybeText"];
            /** @description Null: any. */
            scope: components["schemas"]["MaybeText"];
            from: components["schemas"]["Date"] | null;
            /** @description The last day. */
            to: components["schemas"]["Date"] | null;
            reason: string;
            by: components["schemas"]["MaybeText"];
            at: components["schemas"]["Instant"] | null;
            is_active: boolean;
        };
        Alerts: {
            /** @description False just after the start, and while there is neither a budget nor a receiver: then nothing is known of what would be an alert. */
            is_evaluated: boolean;
            /** @description By rule and scope. */
            alerts: components["schemas"]["Alert"][];
            /** @description The last 500, the newest first. */
            ended: components["schemas"]["Alert"][];
            silences: components["schemas"]["AlertSilence"][];
            receivers: {
                name: string;
                /** @enum {unknown} */
                kind: "alertmanager" | "webhook" | "slack" | "teams" | "email" | "pagerduty";
                /** @description Notifications to be sent, also those of the next digest. */
                waiting: number;
                /** @description Notifications that could not be delivered for a day. */
                given_up: number;
                /** @description Why the last attempt failed. */
                problem: components["schemas"]["MaybeText"];
            }[];
            /** @description The names of all rules. */
            rules: string[];
        };
        /**
         * @description An amount of money with every digit.
         * @example 12.5
         */
        Amount: string;
        Annotation: {
            id: number;
            first: components["schemas"]["Date"];
            last: components["schemas"]["Date"];
            /** @description The costs that it is about; none: all. */
            filter: string[];
            for_everyone: boolean;
            text: string;
            /** @description Its author. */
            who: string;
            /** @description When it was written. */
            at: components["schemas"]["Instant"];
            /** @description Whether the user may remove it. */
            removable: boolean;
        };
        AnomalyVerdict: {
            /** @description The dimension; empty: everything together. */
            by: string;
            key: string;
            first: components["schemas"]["Date"];
            expected: boolean;
            reason: string;
            who: string;
            at: components["schemas"]["Instant"];
        };
        /** @description A request for a workload that a guardrail stops, and what was decided about it. */
        Approval: {
            /** @enum {unknown} */
            state: "pending" | "approved" | "refused" | "expired" | "used";
            /** @description How many persons have to approve it. */
            needed: number;
            request: {
                id: string;
                /** Format: date-time */
                at: string;
                by: string;
                /** @enum {unknown} */
                source: "admission" | "slurm" | "cli" | "api";
                workload: string;
                /** @description "3:" and the SHA-256 of what rules judge. Requests with another version have expired. */
                content: string;
                rules: string[];
                /** @description What of the workload met the rules. */
                because: string;
                reason: string;
                namespace: string;
                labels: {
                    [key: string]: string;
                };
                /** @description "500 USD"; null: not known. */
                cost: components["schemas"]["MaybeText"];
                /** @enum {unknown} */
                cost_of: "run" | "month";
                alternatives: string[];
                /** @description Whose it is, by the dimensions of the policy: of each group of replicas that differs. Missing from requests of earlier versions. */
                owners?: {
                    known: {
                        [key: string]: string;
                    };
                    /** @description Dimensions whose value hangs on what is not known before it runs. */
                    unknown: string[];
                    /** @description Dimensions without a value. */
                    unset: string[];
                }[];
            };
            decisions: {
                /** Format: date-time */
                at: string;
                by: string;
                approves: boolean;
                note: string;
                /** @description When the approval ends. */
                until: components["schemas"]["MaybeText"];
                is_once: boolean;
                /** @description The approver whose delegate decided; empty: they did. */
                on_behalf: string;
            }[];
            uses: {
                /** Format: date-time */
                at: string;
                by: string;
            }[];
        };
        ApprovalDetail: {
            /** @enum {unknown} */
            state: "pending" | "approved" | "refused" | "expired" | "used";
            /** @description How many persons have to approve it. */
            needed: number;
            request: {
                id: string;
                /** Format: date-time */
                at: string;
                by: string;
                /** @enum {unknown} */
                source: "admission" | "slurm" | "cli" | "api";
                workload: string;
                /** @description "3:" and the SHA-256 of what rules judge. Requests with another version have expired. */
                content: string;
                rules: string[];
                /** @description What of the workload met the rules. */
                because: string;
                reason: string;
                namespace: string;
                labels: {
                    [key: string]: string;
                };
                /** @description "500 USD"; null: not known. */
                cost: components["schemas"]["MaybeText"];
                /** @enum {unknown} */
                cost_of: "run" | "month";
                alternatives: string[];
                /** @description Whose it is, by the dimensions of the policy: of each group of replicas that differs. Missing from requests of earlier versions. */
                owners?: {
                    known: {
                        [key: string]: string;
                    };
                    /** @description Dimensions whose value hangs on what is not known before it runs. */
                    unknown: string[];
                    /** @description Dimensions without a value. */
                    unset: string[];
                }[];
            };
            decisions: {
                /** Format: date-time */
                at: string;
                by: string;
                approves: boolean;
                note: string;
                /** @description When the approval ends. */
                until: components["schemas"]["MaybeText"];
                is_once: boolean;
                /** @description The approver whose delegate decided; empty: they did. */
                on_behalf: string;
            }[];
            uses: {
                /** Format: date-time */
                at: string;
                by: string;
            }[];
            /** @description Of an approved one, for who asked for it and who may approve. */
            token: components["schemas"]["MaybeText"];
            /** @description What the budgets that it will, or may, be charged to have left, and would have after it. */
            budgets: {
                name: string;
                owner: string;
                /** @description Of the period of today. */
                amount: string;
                left: string;
                after: string;
                /** @description False: whether it will be charged to it is not known before it runs. */
                is_certain: boolean;
            }[];
        };
        AuditEntry: {
            number: number;
            at: components["schemas"]["Instant"];
            /** @description Empty if nobody was signed in. */
            actor: string;
            /** @description The address; empty for the command line. */
            peer: string;
            /** @example user.change */
            action: string;
            /** @example user bo */
            subject: string;
            /** @description The state before; null if there was none. Any JSON. */
            before: unknown;
            /** @description The state after; null if there is none any more. Any JSON. */
            after: unknown;
            hash: string;
        };
        /**
         * @description As a budget of the configuration: amounts as `5000 USD` or `2000 gpu_hours`, `amount` for the
         *     beginning, and `amounts` for later days.
         */
        Budget: {
            name?: string;
            owner?: string;
            /** @description One, or a list of them; none is everything. */
            filter?: string | string[];
            amount?: string;
            amounts?: {
                /** Format: date */
                from: string;
                amount: string;
            }[];
            /**
             * @default month
             * @enum {unknown}
             */
            period: "day" | "week" | "month" | "quarter" | "year" | "project";
            /**
             * @default effective
             * @enum {unknown}
             */
            cost: "effective" | "billed" | "list" | "contracted" | "gpu_hours";
            /** Format: date */
            from?: string;
            /** Format: date */
            to?: string;
            /** @default false */
            roll_over: boolean;
            parent?: string;
        };
        BudgetDefinition: {
            budget: components["schemas"]["Budget"];
            /** @description It is part of the configuration and changed there. */
            is_configured: boolean;
        };
        BudgetVersion: {
            /** @description Of the change, among those of all budgets. */
            number: number;
            /** Format: date-time */
            at: string;
            by: string;
            /** @description Null where it was removed. */
            budget: components["schemas"]["Budget"] | null;
        };
        Column: {
            /** @description The key in each row. */
            name: string;
            title: string;
            /** @enum {unknown} */
            kind: "text" | "id" | "money" | "exact_money" | "gpu_hours" | "percent" | "count";
        };
        /** @example USD */
        Currency: string;
        /** @example 2026-03-31 */
        Date: string;
        /** @description A decimal number as a string. */
        Decimal: string;
        /** @description 128 bits, in hexadecimal. */
        Digest: string;
        /** @description By dimension of the policy; dimensions without a value are left out. */
        DimensionValues: {
            [key: string]: string;
        };
        /**
         * @description GPU-hours exactly, as a fraction or a whole number.
         * @example 53/1800
         */
        ExactHours: string;
        ExplanationStep: {
            title: string;
            facts: {
                name: string;
                value: string;
            }[];
        };
        FleetGpu: {
            index: number;
            /** @description Empty if no inventory lists the node's GPUs. */
            uuid: string;
            model: string;
            /** @description The profiles of its MIG instances. */
            mig: string[];
            held: boolean;
            busy: components["schemas"]["Part"];
            memory: components["schemas"]["Part"];
            holders: {
                /** @description `others` if it is not visible to the user. */
                workload: string;
                /** @description The held part of the GPU: 1, 0.50, or a MIG profile. */
                share: string;
                owner: string;
                /**
                 * @description Whether it is certainly on this GPU. The scheduler may report only the node and the
                 *     number of GPUs; the workload is then shown on free GPUs of the node.
                 */
                placed: boolean;
            }[];
            /** @description The node's price divided equally between its GPUs. */
            cost_per_hour: components["schemas"]["MaybeAmount"];
        };
        FleetNode: {
            cluster: string;
            node: string;
            instance_type: string;
            region: string;
            /**
             * @description Whether a workload holds a GPU of it now.
             * @enum {unknown}
             */
            state: "held" | "free";
            price_per_hour: components["schemas"]["MaybeAmount"];
            currency: components["schemas"]["MaybeText"];
            gpus: components["schemas"]["FleetGpu"][];
        };
        FourCosts: {
            billed: components["schemas"]["Amount"];
            effective: components["schemas"]["Amount"];
            list: components["schemas"]["Amount"];
            contracted: components["schemas"]["Amount"];
        };
        /**
         * @description GPU-hours with four digits.
         * @example 0.0294
         */
        GpuHours: string;
        Import: {
            number: number;
            /** @example focus */
            format: string;
            /** @description The file, as given. */
            name: string;
            at: components["schemas"]["Instant"];
            /** @enum {unknown} */
            style: "guarded" | "replacement" | "delta" | "ledger";
            /** @description Why it was delivered again; may be empty. */
            reason: string;
            /** @description New charges; the counts below are of new facts as well. */
            charges: number;
            holdings: number;
            nodes: number;
            gpus: number;
            usages: number;
            outages: number;
            corrections: number;
            outcomes: number;
            /** @description Rows that were set aside. */
            rejected: number;
            restated: {
                /** @description Charges removed from open months. */
                removed: number;
                /** @description Charges of closed months, reversed in an open month. */
                reversed: number;
                /** @description Charges of closed months, booked in an open month. */
                late: number;
            };
            /**
             * @description Of a bill: the months whose costs it delivers. Empty for other imports, and for those of earlier versions.
             * @example [
             *       "2026-03"
             *     ]
             */
            months: string[];
            /** @description Of a bill: in the files = taken + set aside + passed over, in rows and in all four costs. Null for other imports, and for those of earlier versions. */
            equation: components["schemas"]["ImportEquation"] | null;
        };
        ImportEquation: {
            /** @description Whether the costs of every row are known. */
            whole: boolean;
            in_files: components["schemas"]["MoneyOfRows"];
            taken: components["schemas"]["MoneyOfRows"];
            aside: components["schemas"]["MoneyOfRows"];
            passed_over: {
                /** @example repeats the cost of its instance */
                reason: string;
                rows: components["schemas"]["MoneyOfRows"];
            }[];
        };
        /** @example 2026-03-01T00:00:00Z */
        Instant: string;
        /** @description The schema pennyweight-invoice/1 of docs/guide/invoices.md. */
        InvoiceDocument: {
            /** @constant */
            schema: "pennyweight-invoice/1";
            /** @enum {unknown} */
            kind: "invoice" | "credit_note" | "supplement" | "not_charged";
            /** @description Empty in a draft. */
            number: string;
            month: components["schemas"]["Month"];
            customer: string;
            currency: components["schemas"]["Currency"];
            total_shown: components["schemas"]["Amount"];
            sections: Record<string, never>[];
            /** @description The reconciliation with the provider's bill of the month. In the view books only. */
            reconciliation?: Record<string, never>;
        };
        /** @description What whoever issues them should know, such as a tax that differs from that of issued documents. */
        InvoiceNotes: string[];
        IssuedInvoice: {
            /** @example INV-2026-03-0001 */
            number: string;
            /** @enum {unknown} */
            kind: "invoice" | "credit_note" | "supplement";
            month: components["schemas"]["Month"];
            /** @description The dimension that the customer is a value of. */
            by: string;
            customer: string;
            /** @description The number of the invoice that it corrects. */
            refers_to: string | null;
            net: components["schemas"]["Amount"];
            total: components["schemas"]["Amount"];
            currency: components["schemas"]["Currency"];
            /**
             * Format: date
             * @description Null: nothing is to be paid, or there are no payment terms.
             */
            due_on: string | null;
            /**
             * Format: date
             * @description The day on which it was sent to the customer, as somebody noted. Null: nobody did.
             */
            sent_on: string | null;
            /**
             * Format: date
             * @description Null: no payment is known.
             */
            paid_on: string | null;
            /** @description It was due before today, and no payment is known. */
            overdue: boolean;
            issued_at: components["schemas"]["Instant"];
            digest: components["schemas"]["Digest"];
        };
        /** @description Either `per_day` or `percent`. */
        KnownEvent: {
            /** @description As in the address. */
            name?: string;
            /** @description Its first day. */
            from: components["schemas"]["Date"];
            /** @description Its last day; without it, it lasts. */
            to?: components["schemas"]["Date"];
            /** @description The value that it is for, such as a team; without it, all. */
            key?: string;
            /** @description The dimension of that value; without it, any that has it. */
            by?: string;
            /** @description What it adds on each day, `120 USD` or `24 gpu_hours`; below 0, what it saves. It takes a key. */
            per_day?: string;
            /** @description What remains of a day's cost. */
            percent?: number;
        };
        KnownEventEntry: {
            event: components["schemas"]["KnownEvent"];
            /** @description What it does to a day, in words. */
            effect: string;
            /** @description It is part of the configuration and changed there. */
            is_configured: boolean;
            /** @description Whether the user may change or remove it. */
            changeable: boolean;
        };
        KnownEventVersion: {
            /** @description Of the change, among those of all events. */
            number: number;
            at: components["schemas"]["Instant"];
            who: string;
            /** @description As it was kept; null: it was removed. */
            event: components["schemas"]["KnownEvent"] | null;
        };
        LiveNow: {
            /** @description The time of the last update; null before the first. */
            at: components["schemas"]["Instant"] | null;
            clusters: {
                cluster: string;
                /** @description Whether a source reports what runs there; if not, nothing is known to be free. */
                watched: boolean;
                currency: components["schemas"]["MaybeText"];
                cost_per_hour: components["schemas"]["MaybeAmount"];
                held_per_hour: components["schemas"]["MaybeAmount"];
                held_idle_per_hour: components["schemas"]["MaybeAmount"];
                unallocated_per_hour: components["schemas"]["MaybeAmount"];
                gpus: number;
                /** @description With three digits. */
                gpus_held: number;
                /** @description The held GPUs, weighted by how busy they are; null without telemetry. */
                gpus_busy: number | null;
                notes: string[];
            }[];
        };
        /** @description An amount; null if no price is known, or it is not visible to the user. */
        MaybeAmount: string | null;
        MaybeText: string | null;
        MoneyOfRows: {
            rows: number;
            /** @description Rows among them whose costs are not known. */
            unreadable: number;
            /** @description Of each currency. */
            costs: {
                currency: components["schemas"]["Currency"];
                billed: components["schemas"]["Amount"];
                effective: components["schemas"]["Amount"];
                list: components["schemas"]["Amount"];
                contracted: components["schemas"]["Amount"];
            }[];
        };
        /** @example 2026-03 */
        Month: string;
        /** @description A month's cost by kind, before spreading. */
        MonthSummary: {
            month: components["schemas"]["Month"];
            currency: components["schemas"]["Currency"];
            total: components["schemas"]["Amount"];
            used: components["schemas"]["Amount"];
            held_idle: components["schemas"]["Amount"];
            unallocated: components["schemas"]["Amount"];
            stranded: components["schemas"]["Amount"];
            overhead: components["schemas"]["Amount"];
            unavailable: components["schemas"]["Amount"];
            shared: components["schemas"]["Amount"];
            gpu_hours_held: components["schemas"]["GpuHours"];
            gpu_hours_held_exact: components["schemas"]["ExactHours"];
            gpu_hours_idle: components["schemas"]["GpuHours"];
            gpu_hours_idle_exact: components["schemas"]["ExactHours"];
            observed_share: components["schemas"]["Percent"];
        };
        /** @description The cursor of the next page; null on the last page. */
        Next: string | null;
        NodesOfKind: {
            name: string;
            nodes: number;
        };
        /** @description From 0.00 to 1.00; null without telemetry. */
        Part: string | null;
        /**
         * @description A percentage with up to four digits; null if the whole is zero.
         * @example 12.3456
         */
        Percent: string | null;
        Period: {
            month: components["schemas"]["Month"];
            /** @enum {unknown} */
            state: "open" | "closed";
            closed_at: components["schemas"]["Instant"] | null;
            closed_by: string | null;
            reason: string | null;
            /** @description Over the charges and runs of a closed month. */
            digest: components["schemas"]["Digest"] | null;
            /** @description Charges of a closed month. */
            lines: number | null;
            /** @description Effective cost posted in the month. */
            effective: {
                currency: components["schemas"]["Currency"];
                amount: components["schemas"]["Amount"];
            }[];
        };
        /** @enum {unknown} */
        Permission: "read_costs" | "read_live" | "read_fleet" | "read_bills" | "read_invoices" | "read_rules" | "read_audit" | "read_metrics" | "decide_advice" | "issue_invoices" | "close_periods" | "manage_users" | "manage_own" | "manage_budgets" | "manage_alerts" | "approve" | "send_telemetry" | "import_files" | "read_statements";
        PolicyComparison: {
            a: components["schemas"]["Digest"];
            b: components["schemas"]["Digest"];
            differences: {
                /** @description The title of the section. */
                where: string;
                /** @description A sentence that only a has. */
                a: string | null;
                /** @description A sentence that only b has. */
                b: string | null;
            }[];
            /** @description Lines of the canonical texts that only one policy has. */
            text: {
                /** @enum {unknown} */
                side: "a" | "b";
                line: string;
            }[];
        };
        PolicyText: {
            version: components["schemas"]["Digest"];
            name: string | null;
            first_used: components["schemas"]["Instant"] | null;
            last_used: components["schemas"]["Instant"] | null;
            runs: number;
            current: boolean;
            /** @description The whole policy with defaults, as YAML. */
            text: string;
            in_words: {
                title: string;
                sentences: string[];
            }[];
        };
        PolicyUse: {
            version: components["schemas"]["Digest"];
            name: string | null;
            /** @description By a run; null if none has used it. */
            first_used: components["schemas"]["Instant"] | null;
            last_used: components["schemas"]["Instant"] | null;
            runs: number;
            /** @description Whether the next run will use it. */
            current: boolean;
        };
        /** @description An error in the form of RFC 9457. */
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description What the next attempt must include */
            needs?: string;
            /**
             * @description With `fresh_sign_in`: how the session was begun, and is confirmed.
             * @enum {unknown}
             */
            by?: "password" | "openid";
        };
        ReconcileLine: {
            /** @description The charge's id. */
            charge: string;
            currency: components["schemas"]["Currency"];
            description: string;
            /** @enum {unknown} */
            category: "Usage" | "Purchase" | "Tax" | "Credit" | "Adjustment";
            service: string;
            resource: string;
            account: string;
            from: components["schemas"]["Instant"];
            to: components["schemas"]["Instant"];
            costs: components["schemas"]["FourCosts"];
            posted: components["schemas"]["FourCosts"];
            difference: components["schemas"]["FourCosts"];
            postings: number;
            exact: boolean;
            /** @description What differs in words; empty if nothing does. */
            off: string;
        };
        ReconcileTotals: {
            month: components["schemas"]["Month"];
            currency: components["schemas"]["Currency"];
            billed: components["schemas"]["FourCosts"];
            posted: components["schemas"]["FourCosts"];
            difference: components["schemas"]["FourCosts"];
            lines: number;
            /** @description Charges that are not posted exactly. */
            lines_off: number;
            /** @description Of those, charges that no run has posted. */
            lines_unposted: number;
            transfers: number;
            /** @description Transfers that do not add up to zero. */
            transfers_off: number;
            /** @description Posted charges that a later delivery has retired. */
            lines_gone: number;
            exact: boolean;
        };
        RejectedRow: {
            /** @description 0 if the format has no lines. */
            line: number;
            /** @description The invalid column; empty for the whole row. */
            column: string;
            reason: string;
            text: string;
        };
        /** @enum {unknown} */
        Role: "viewer" | "team_lead" | "finance" | "operator" | "admin" | "client";
        /**
         * @description Cells by column name. Money, GPU-hours and percentages are strings; a column of GPU-hours has a
         *     second key, NAME_exact. Null is an empty cell.
         */
        Row: {
            [key: string]: string | number | null;
        };
        Run: {
            /** @description Empty for charges without a cluster. */
            cluster: string;
            month: components["schemas"]["Month"];
            /** @description Counts the runs of its cluster and month. */
            number: number;
            /** @description Whether it counts: no later run has replaced it. */
            current: boolean;
            at: components["schemas"]["Instant"];
            policy_version: components["schemas"]["Digest"];
            catalog_version: components["schemas"]["Digest"];
            time_zone: string;
            program_version: string;
            postings: number;
            digest: components["schemas"]["Digest"];
        };
        SavedView: {
            id: number;
            name: string;
            query: string;
            shared: boolean;
            mine: boolean;
            /** @description When it is sent, of the own views; null, never. */
            schedule: {
                /** @enum {unknown} */
                every: "day" | "week" | "month";
                /** @description Null: the own mail address. */
                receiver: string | null;
                /** @description The last day that was sent. */
                sent_until: string | null;
                /** @description Why it could not be sent the last time. */
                problem: string | null;
            } | null;
        };
        /** @description What a user sees. All parts apply; without any, the user sees everything. */
        Scope: {
            /** @example team */
            dimension: string;
            /** @description Any one of these. */
            values: string[];
        }[];
        Session: {
            user: {
                name: components["schemas"]["UserName"];
                display_name: string;
                role: components["schemas"]["Role"];
                scope: components["schemas"]["Scope"];
                /** @description Whether the user has a password here. */
                local: boolean;
                has_totp: boolean;
                /** @description How many recovery codes are left. */
                recovery_codes?: number;
            } | null;
            /** @description The user's current permissions. */
            permissions?: components["schemas"]["Permission"][];
            /** @description For the header X-CSRF-Token; empty with a token. */
            csrf?: string;
            must_change_password?: boolean;
            version: string;
            sign_in: {
                password: boolean;
                openid: {
                    /** @description For the sign-in button. */
                    name: string;
                } | null;
            };
        };
        Table: {
            title: string;
            currency?: components["schemas"]["Currency"];
            columns: components["schemas"]["Column"][];
            rows: components["schemas"]["Row"][];
            total?: components["schemas"]["Row"];
            notes?: string[];
        };
        Tables: {
            tables: components["schemas"]["Table"][];
            etag?: string;
        };
        Token: {
            id: string;
            name: string;
            user: components["schemas"]["UserName"];
            /** @description Empty for all permissions of the role. */
            only: components["schemas"]["Permission"][];
            scope: components["schemas"]["Scope"];
            created_at: components["schemas"]["Instant"];
            expires_at: components["schemas"]["Instant"];
            last_used: components["schemas"]["Instant"] | null;
            revoked: boolean;
        };
        UploadReport: {
            name: string;
            preview: boolean;
            /** @description The import; null: nothing was imported. */
            number: number | null;
            /** @example focus */
            format: string;
            /** @description The format, in words. */
            description: string;
            bill: boolean;
            /** @description The file was imported before, line for line. */
            known: boolean;
            /** @description Records of who held GPUs. */
            holdings: number;
            /** @description Of these records. */
            gpu_hours: string;
            /** @description Rows that were set aside. */
            rejected: number;
            /** @description What was imported; empty in a preview. */
            facts: {
                /** @enum {unknown} */
                name: "charges" | "holdings" | "nodes" | "gpus" | "usages" | "outages" | "corrections" | "outcomes";
                created: number;
                /** @description In the ledger already. */
                existing: number;
                /** @description Set aside, since the ledger says otherwise. */
                conflicts: number;
            }[];
            first_rejected: components["schemas"]["RejectedRow"][];
            remarks: string[];
            /** @description Of a bill: what it changes, for each account and month. */
            effect: string[];
            /** @description Stands for what `needs_confirm` says; empty: nobody must confirm anything. */
            confirm_key: string;
            /** @description Why a person must confirm it, a sentence each. */
            needs_confirm: string[];
            /** @description What would be counted twice, a sentence each. */
            doubles: string[];
            equation: components["schemas"]["ImportEquation"] | null;
        };
        /** @description The exchange rates used, each with its date and source; none if nothing was converted. */
        UsedRates: string[];
        User: {
            name: components["schemas"]["UserName"];
            display_name: string;
            email: string;
            role: components["schemas"]["Role"];
            scope: components["schemas"]["Scope"];
            local: boolean;
            has_totp: boolean;
            disabled: boolean;
            must_change_password: boolean;
            created_at: components["schemas"]["Instant"];
            last_sign_in: components["schemas"]["Instant"] | null;
        };
        /** @example ana */
        UserName: string;
        /** @description A scenario that is replayed, and its result. */
        WhatIfDetail: {
            id: string;
            /** @enum {unknown} */
            state: "queued" | "running" | "done" | "failed" | "cancelled";
            name: string;
            scenario: string;
            calibration: string;
            month: components["schemas"]["Month"];
            cluster: string;
            by: string;
            cost: string;
            error_max: number;
            wait_error_max: number;
            /** @description Who started it. */
            user: string;
            mine: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at: string | null;
            /** @description Why it failed, and what to do. */
            error: string | null;
            progress: {
                /** @enum {unknown} */
                stage: "cost_was" | "calibration" | "scenario" | "cost_would_be" | "done";
                jobs_ended: number;
                /** @description 0: the stage is not about jobs. */
                jobs: number;
            } | null;
            /** @description Whether the ledger has changed since; null where that is not known. */
            is_stale: boolean | null;
            tables: {
                calibration: components["schemas"]["Table"];
                jobs: components["schemas"]["Table"];
                /** @description Where several replays were asked for (seeds, demand-range). */
                range?: components["schemas"]["Table"];
                /** @description Where the fewest nodes were asked for (fewest-nodes). */
                fleets?: components["schemas"]["Table"];
                /** @description Where the cheapest mix of tiers was asked for (cheapest-tiers). */
                tiers?: components["schemas"]["Table"];
                /** @description Where the best MIG layout was asked for (best-mig). */
                mig?: components["schemas"]["Table"];
                /** @description The list prices that were taken (list-price), each with source, date and currency. */
                prices?: components["schemas"]["Table"];
                /** @description How long jobs take on another GPU model (replace-model), and by what. */
                speeds?: components["schemas"]["Table"];
                /** @description Commitments that are bought (commitment-buy): cost, used and unused. */
                commitments?: components["schemas"]["Table"];
                teams: components["schemas"]["Table"];
                moments: components["schemas"]["Table"];
                waits: components["schemas"]["Table"];
                costs: components["schemas"]["Table"][];
                /** @description The same money by how it was bought: on demand, spot, each kind of commitment. */
                tier_costs: components["schemas"]["Table"][];
            } | null;
        };
        /** @description A scenario that is replayed. */
        WhatIfRun: {
            id: string;
            /** @enum {unknown} */
            state: "queued" | "running" | "done" | "failed" | "cancelled";
            name: string;
            scenario: string;
            calibration: string;
            month: components["schemas"]["Month"];
            cluster: string;
            by: string;
            cost: string;
            error_max: number;
            wait_error_max: number;
            /** @description Who started it. */
            user: string;
            mine: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at: string | null;
            /** @description Why it failed, and what to do. */
            error: string | null;
            progress: {
                /** @enum {unknown} */
                stage: "cost_was" | "calibration" | "scenario" | "cost_would_be" | "done";
                jobs_ended: number;
                /** @description 0: the stage is not about jobs. */
                jobs: number;
            } | null;
        };
        WorkItem: {
            /** @description Empty for charges without a cluster; null for a whole month whose clusters are not determined yet. */
            cluster: string | null;
            month: components["schemas"]["Month"];
            /**
             * @description `waiting`: due, once the clusters of its month are up to date. `claimed`: a worker is at it, or has died; another worker takes over when the lease expires.
             * @enum {unknown}
             */
            state: "done" | "due" | "waiting" | "claimed" | "unplanned";
            /** @description Why it is due. */
            because: string | null;
            /** @description The number of the run that counts. */
            run: number | null;
            /** @description When a worker last allocated it; the result may have been unchanged. */
            divided_at: components["schemas"]["Instant"] | null;
            /** @description The number of imports whose facts the run has read. */
            imports_seen: number | null;
            /** @description If it is due: the number of imports since. */
            imports_behind: number;
            /** @description When the first import arrived that matters to it; null if no import made it due. */
            behind_since: components["schemas"]["Instant"] | null;
            /** @description The worker that has claimed it. */
            worker: string | null;
            claimed_at: components["schemas"]["Instant"] | null;
            /** @description The worker's last heartbeat, by its own clock. */
            last_sign: components["schemas"]["Instant"] | null;
        };
        Workload: {
            cluster: string;
            workload: string;
            first: components["schemas"]["Date"];
            last: components["schemas"]["Date"];
            effective_cost: components["schemas"]["Amount"];
            used_cost: components["schemas"]["Amount"];
            held_idle_cost: components["schemas"]["Amount"];
            currency: components["schemas"]["Currency"];
            gpu_hours: components["schemas"]["GpuHours"];
            gpu_hours_exact: components["schemas"]["ExactHours"];
            observed_share: components["schemas"]["Percent"];
            dimensions: components["schemas"]["DimensionValues"];
        };
        WorkloadDetail: {
            cluster: string;
            workload: string;
            dimensions: components["schemas"]["DimensionValues"];
            /** @description The labels of the latest attempt, as in the scheduler. */
            labels: {
                [key: string]: string;
            };
            attempts: {
                /** @description Counted in order of time. */
                attempt: number;
                /** @description The scheduler's name for it; may be empty. */
                name: string;
                from: components["schemas"]["Instant"];
                /** @description Null while it runs. */
                to: components["schemas"]["Instant"] | null;
                /** @description How it ended, in the words of the scheduler. */
                ended: string;
                placement: string;
                device: string;
                nodes: string[];
            }[];
            days: {
                day: components["schemas"]["Date"];
                used_cost: components["schemas"]["Amount"];
                held_idle_cost: components["schemas"]["Amount"];
                other_cost: components["schemas"]["Amount"];
                currency: components["schemas"]["Currency"];
                gpu_hours: components["schemas"]["GpuHours"];
                gpu_hours_exact: components["schemas"]["ExactHours"];
            }[];
            /**
             * @description The outcome of the latest attempt.
             * @enum {unknown}
             */
            outcome?: "useful" | "lost" | "running" | "unknown";
            /** @description The cost of attempts that failed or were ended; absent if unknown. */
            lost_cost?: components["schemas"]["Amount"];
            /** @description The currency of lost_cost. */
            currency?: components["schemas"]["Currency"];
            rates: components["schemas"]["UsedRates"];
        };
    };
    responses: {
        /** @description A parameter or the body is invalid; the detail names it. */
        BadParameter: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It conflicts with the current state. */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The role, the token or the scope does not allow it, the password must be changed first, or
         *     X-CSRF-Token is missing or wrong.
         */
        MayNot: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It does not exist. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The client has the current version (If-None-Match). */
        NotModified: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Nobody is signed in, or the session or token is expired or unknown. */
        NotSignedIn: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Any other error. */
        OtherProblem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Too many requests, or too many wrong passwords. */
        TooMany: {
            headers: {
                /** @description Retry after this many seconds. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
        CsrfToken: string;
        /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
        Cursor: string;
        /**
         * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
         *     kind in parentheses, such as team=(unallocated), selects that row of a report.
         * @example [
         *       "team=nlp"
         *     ]
         */
        Filter: string[];
        /** @description The first local day. */
        From: components["schemas"]["Date"];
        /**
         * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
         *     booked; `original` keeps the billed currencies. By default, currencies.report.
         */
        InCurrency: string;
        /** @description The maximum number of entries. */
        Limit: number;
        /**
         * @description An accounting month.
         * @example 2026-03
         */
        Month: components["schemas"]["Month"];
        /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
        RowFormat: "json" | "csv" | "sheet" | "jsonl";
        /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
        TableFormat: "json" | "csv" | "sheet" | "jsonl" | "parquet";
        /** @description The last local day, inclusive. */
        To: components["schemas"]["Date"];
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getActivity: {
        parameters: {
            query?: {
                /**
                 * @description Up to six dimensions separated by commas: those of the policy, `cluster`, `pool`, `node`,
                 *     `gpu_model`, `workload`, `partition`, `state`, … and `label:KEY`. By default, one row, or the
                 *     rows of the named report.
                 * @example user,partition
                 */
                by?: string;
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description A row for each day, week (from Monday) or month. */
                step?: "none" | "day" | "week" | "month";
                /** @description Which report. */
                as?: "activity" | "measures" | "efficiency" | "xdmod:jobs" | "sreport:cluster-utilization" | "sreport:AccountUtilizationByUser" | "sreport:UserUtilizationByAccount" | "sreport:SizesByAccount";
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["TableFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One table, or its rows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getAdvice: {
        parameters: {
            query?: {
                /**
                 * @description The billing month to learn from; by default, the last one.
                 * @example 2026-03
                 */
                month?: components["schemas"]["Month"];
                /** @description Only this cluster. */
                cluster?: string;
                /** @description Only this kind of advice. */
                kind?: "unneeded-nodes" | "scale-down" | "commitment" | "unused-commitment" | "idle" | "zombie" | "autoscaling" | "right-size" | "mig-layout" | "share" | "spot" | "time-limit";
                /** @description Only the work of this team; a value of the policy's first dimension, where it has no dimension team. */
                team?: string;
                /** @description At most this effort. */
                effort?: "low" | "medium" | "high";
                /** @description At least this confidence. */
                confidence?: "low" | "medium" | "high";
                /**
                 * @deprecated
                 * @description The old name of `confidence`; taken where that is not given.
                 */
                sure?: "low" | "medium" | "high";
                /** @description Which of the four costs of a charge. */
                cost?: "effective" | "billed" | "list" | "contracted";
                /** @description List prices of what could be bought; by default, today. */
                prices_as_of?: string;
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description With advice that somebody dismissed. */
                dismissed?: boolean;
                /** @description One advice, by its id or how it begins, with its evidence and its risk. */
                id?: string;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency, or with `id` everything about one advice. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listAdviceDecisions: {
        parameters: {
            query?: {
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getAdviceProgress: {
        parameters: {
            query?: {
                /**
                 * @description The month; by default, the last one with charges.
                 * @example 2026-03
                 */
                month?: components["schemas"]["Month"];
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    decideAdvice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The advice's id, in full. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @enum {unknown} */
                    action: "accept" | "dismiss" | "done" | "verify" | "reopen";
                    /** @description Why; a dismissal needs one. */
                    reason?: string;
                    /**
                     * Format: date
                     * @description dismiss: the day on which it is shown again, by default never; done: the day since which it is in effect, by default today.
                     */
                    day?: string;
                    /** @description The month whose advice it is; by default, the last one. */
                    month?: string;
                };
            };
        };
        responses: {
            /** @description It is decided. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdviceStep"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            /** @description It is in another state, or there are too few days to compare. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getAlerts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alerts"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    testReceiver: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the receiver. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether it was delivered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        receiver: string;
                        is_delivered: boolean;
                        /** @description Why it was not. */
                        problem: components["schemas"]["MaybeText"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    putSilence: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "rule": "gpu_hot",
                 *       "scope": "lab/gpu-07",
                 *       "to": "2026-04-02",
                 *       "reason": "The fan is replaced on Thursday"
                 *     }
                 */
                "application/json": {
                    /** @description The rule; by default */
                    rule?: string;
                    /** @description The subject or the whole scope of an alert; by default */
                    scope?: string;
                    /** @description The last day, at most 366 days ahead. */
                    to: components["schemas"]["Date"];
                    reason: string;
                };
            };
        };
        responses: {
            /** @description The silence. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertSilence"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    liftSilence: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the silence. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is lifted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    allocateMonth: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    month: components["schemas"]["Month"];
                };
            };
        };
        responses: {
            /** @description The runs, one for each cluster, and one for what belongs to none. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        month: components["schemas"]["Month"];
                        runs: {
                            /** @description Empty: what belongs to no cluster. */
                            cluster: string;
                            number: number;
                            lines: number;
                            postings: number;
                            /** @description The run before has the same result. */
                            unchanged: boolean;
                        }[];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            /** @description The month is closed. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listAnnotations: {
        parameters: {
            query?: {
                /** @description Only what is about this day or later ones. */
                from?: string;
                /** @description Only what is about this day or earlier ones. */
                to?: string;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Annotation"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    addAnnotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "first": "2026-03-09",
                 *       "filter": [
                 *         "team=nlp"
                 *       ],
                 *       "text": "Moved to cluster b"
                 *     }
                 */
                "application/json": {
                    /** @description The first of the days that it is about. */
                    first: components["schemas"]["Date"];
                    /** @description The last of them, at most 365 days later; by default, the first. */
                    last?: components["schemas"]["Date"];
                    /** @description The costs that it is about, such as `team=nlp`; without any, all. Together at most 1,000 bytes. */
                    filter?: string[];
                    /**
                     * @description Also shown to those who don't see all these costs.
                     * @default false
                     */
                    for_everyone?: boolean;
                    /** @description At most 500 bytes. */
                    text: string;
                };
            };
        };
        responses: {
            /** @description As it is kept. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotation"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    removeAnnotation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The annotation's id. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getAnomalies: {
        parameters: {
            query?: {
                /**
                 * @description A dimension; by default, everything together.
                 * @example team
                 */
                by?: string;
                /**
                 * @description The dimension that explains; by default, that of `by`.
                 * @example instance_type
                 */
                cause?: string;
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /** @description Which of the four costs of a charge, or GPU-hours. */
                cost?: "effective" | "billed" | "list" | "contracted" | "gpu_hours";
                /** @description The smallest difference, in percent of a day's expected cost. */
                impact?: number;
                /** @description Only what lasts until this day or later. */
                since?: string;
                /** @description As on this day; by default, today. */
                today?: string;
                /** @description Adds a sentence for each. */
                explain?: boolean;
                /**
                 * @description Finds the hour in which each of the newest 20 began, where bills, jobs or telemetry tell it, and what changed of the machines that
                 *     explain them. It asks the ledger itself, which may take some time.
                 */
                hours?: boolean;
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Unusual days, the newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    postAnomalyVerdict: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "by": "team",
                 *       "key": "nlp",
                 *       "first": "2026-03-09",
                 *       "expected": true,
                 *       "reason": "The yearly run"
                 *     }
                 */
                "application/json": {
                    /** @description The dimension; by default */
                    by?: string;
                    /** @description The value */
                    key: string;
                    /** @description The first of the days. */
                    first: components["schemas"]["Date"];
                    /**
                     * @description As it was asked for in the list that names the days.
                     * @default 10
                     */
                    impact?: number;
                    expected: boolean;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description As it is kept. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnomalyVerdict"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listApprovals: {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: "all" | "pending" | "approved" | "refused" | "expired" | "used";
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Approval"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    requestApprovals: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "manifest": "srun --gpus=16 --time=1:00:00 train",
                 *       "reason": "The yearly run"
                 *     }
                 */
                "application/json": {
                    /** @description Its text. */
                    manifest: string;
                    /** @description Why it is needed. */
                    reason: string;
                    /** @description Of what states none. */
                    namespace?: string;
                };
            };
        };
        responses: {
            /** @description What the rules decide, in the order of the manifest. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            workload: string;
                            /** @enum {unknown} */
                            decision: "allowed" | "warned" | "needs_approval" | "denied";
                            /** @description The id of the request. */
                            approval: components["schemas"]["MaybeText"];
                        }[];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetail"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    decideApproval: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the request. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "decision": "approve",
                 *       "note": "As agreed in the quarter's plan"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    decision: "approve" | "refuse";
                    /** @description Why; required of a refusal. */
                    note?: string;
                    /**
                     * Format: date-time
                     * @description When it ends; by default, after guardrails.approvals.valid_for.
                     */
                    until?: string;
                    /** @description It may be used once, or until its end. */
                    is_once?: boolean;
                };
            };
        };
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalDetail"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Entries before this number; `next` of the previous answer. */
                before?: number;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Only by this actor. */
                actor?: string;
                /**
                 * @description Only this action.
                 * @example user.change
                 */
                action?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the log. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AuditEntry"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    verifyAudit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        whole: boolean;
                        /** @description The last entry. Store it elsewhere to check the log against it later. */
                        head: {
                            number: number;
                            hash: string;
                        };
                        /** @description The first damaged line. */
                        bad_line: number | null;
                        reason: string | null;
                        /** @description Entries that took another log for the recorded one. They stay for ever. */
                        accepted: string[];
                        /** @description Users, roles, scopes and tokens that are not what the entries say. */
                        differences: string[];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listBudgetDefinitions: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BudgetDefinition"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getBudgets: {
        parameters: {
            query?: {
                /** @description One budget; by default, all. */
                name?: string;
                /** @description As on this day; by default, today. */
                today?: string;
                /** @description Whether to forecast the rest of each period. */
                forecast?: boolean;
                /** @description Only budgets of all that the user sees, those without a filter, or with the user's scope as theirs. */
                whole?: boolean;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The budgets that the user may see. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    setBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the budget. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "filter": [
                 *         "team=nlp"
                 *       ],
                 *       "amount": "5000 USD",
                 *       "owner": "ana"
                 *     }
                 */
                "application/json": components["schemas"]["Budget"];
            };
        };
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetDefinition"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    removeBudget: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the budget. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed; its versions remain. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listBudgetVersions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the budget. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes, the oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["BudgetVersion"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getCapacity: {
        parameters: {
            query?: {
                /** @description Only this cluster. */
                cluster?: string;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The capacity; without tables where no node has GPUs. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getGpuCatalog: {
        parameters: {
            query?: {
                /**
                 * @description Only this GPU model.
                 * @example L40S
                 */
                model?: string;
                /** @description Only prices of this provider, such as aws. */
                provider?: string;
                /** @description Only prices of this region; by default, the cheapest of any. */
                region?: string;
                /** @description Prices of this day; by default, today. */
                prices_as_of?: string;
                /** @description The GPU model of work to find a card for. */
                runs_on?: string;
                /** @description Its mean SM activity there, in percent. */
                busy?: number;
                /** @description The 95th percentile of it; by default, the mean. */
                busy_p95?: number;
                /** @description Its mean DRAM activity, in percent. */
                bandwidth?: number;
                /** @description The 99th percentile of its GPU memory, in GiB. */
                memory_gib?: number;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getClients: {
        parameters: {
            query: {
                /** @description The booked month. */
                month: components["schemas"]["Month"];
                /** @description The clients' dimension; by default as configured. */
                by?: string;
                /** @description The dimension that says what work is for; by default `workload_type`. */
                work?: string;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency of the month. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getClientsReport: {
        parameters: {
            query: {
                /** @description The booked month. */
                month: components["schemas"]["Month"];
                /** @description The clients' dimension; by default as configured. */
                by?: string;
                /** @description The dimension that says what work is for; by default `workload_type`. */
                work?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getCompliance: {
        parameters: {
            query: {
                /**
                 * @description Of the bill.
                 * @example 2026-03
                 */
                month: components["schemas"]["Month"];
                /** @description One of them; by default, all. */
                client?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description For each currency the clients, then the findings; then access and changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getComplianceReport: {
        parameters: {
            query: {
                /**
                 * @description Of the bill.
                 * @example 2026-03
                 */
                month: components["schemas"]["Month"];
                /** @description One of them; by default, all. */
                client?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getCosts: {
        parameters: {
            query?: {
                /**
                 * @description One to six dimensions separated by commas. By default, the policy's first.
                 * @example team,user
                 */
                by?: string;
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description A row for each day, week (from Monday) or month. */
                step?: "none" | "day" | "week" | "month";
                /** @description Which of the four costs of a charge. */
                cost?: "effective" | "billed" | "list" | "contracted" | "all";
                /** @description The largest first, or by name. */
                sort?: "cost" | "key";
                /** @description The number of owners; all others are one row. 0 means all. */
                top?: number;
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description Costs as known at this instant. */
                as_of?: components["schemas"]["Instant"];
                /**
                 * @description All costs; costs of what workloads held, used or not; or only of what they used.
                 *     `filter=kind=…` is more precise.
                 */
                kinds?: "all" | "held" | "used";
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["TableFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tables, or the rows of all of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getCoverage: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /**
                 * @description Dimensions derived from labels, separated by commas; by default, the first.
                 * @example team
                 */
                by?: string;
                /** @description The number of places for each reason. */
                top?: number;
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tables for each dimension and currency, and for the places where money stopped. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listCurrencies: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The currencies by code. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description currencies.report of the configuration; null if it names none. */
                        report: components["schemas"]["Currency"] | null;
                        /** @description The currency of answers with these parameters; null if they are as billed. */
                        shown: components["schemas"]["Currency"] | null;
                        /** @description Those of the month's costs; without a month, of all costs. */
                        billed: components["schemas"]["Currency"][];
                        /** @description Those that the exchange rates name. */
                        convertible: components["schemas"]["Currency"][];
                        rates: components["schemas"]["UsedRates"];
                        /** @description Why the month can't be converted. */
                        missing: components["schemas"]["MaybeText"];
                        /** @description The last day of the month with costs; null without one, or without a month. */
                        as_of: components["schemas"]["Date"] | null;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listDimensions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Those that the policy derives from labels, then those of every posting. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            name: string;
                            /** @enum {unknown} */
                            kind: "built_in" | "policy";
                        }[];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listDimensionValues: {
        parameters: {
            query?: {
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description Only values that begin with this. */
                prefix?: string;
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description The dimension's name.
                 * @example team
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values; `next` is always null. Use a longer prefix for more. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            value: string;
                            currency: components["schemas"]["Currency"];
                            effective_cost: components["schemas"]["Amount"];
                        }[];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    streamEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, until either side ends it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    explain: {
        parameters: {
            query?: {
                /** @description The id of a charge. */
                charge?: components["schemas"]["Digest"];
                /** @description The dimensions of a report … */
                by?: string;
                /**
                 * @description … and a row of it, as shown in the report; values separated by commas.
                 * @example nlp
                 */
                key?: string;
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description The number of postings. */
                top?: number;
                /** @description Leave out this many larger postings. */
                offset?: number;
                /**
                 * @description The number of the posting to explain, counted from 0 in the order of size; by default, the first
                 *     that is listed.
                 */
                posting?: number;
                /**
                 * @description The id of a transfer (`bucket` of an explanation): the postings of the idle, unallocated or shared
                 *     cost that it moved. Not for users with a scope.
                 */
                bucket?: components["schemas"]["Digest"];
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /** @description Which of the four costs of a charge. */
                cost?: "effective" | "billed" | "list" | "contracted";
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description Costs as known at this instant; their calculation is then left out. */
                as_of?: components["schemas"]["Instant"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The postings, and the steps from the charge to the amount. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        cost: "effective" | "billed" | "list" | "contracted";
                        /** @description The amount that is explained, in each currency shown. */
                        total: {
                            currency: components["schemas"]["Currency"];
                            amount: components["schemas"]["Amount"];
                        }[];
                        /** @description As billed; in each currency they add up to the amounts of the months. */
                        parts: {
                            kind: string;
                            /** @enum {unknown} */
                            component: "gpu" | "cpu" | "memory" | "whole";
                            currency: components["schemas"]["Currency"];
                            amount: components["schemas"]["Amount"];
                            gpu_hours: components["schemas"]["GpuHours"];
                            gpu_hours_exact: components["schemas"]["ExactHours"];
                            postings: number;
                        }[];
                        /** @description The cost booked in each month, as billed and as shown; `shown` adds up to the total. */
                        months: {
                            month: components["schemas"]["Month"];
                            currency: components["schemas"]["Currency"];
                            amount: components["schemas"]["Amount"];
                            shown_currency: components["schemas"]["Currency"];
                            shown: components["schemas"]["Amount"];
                        }[];
                        /** @description All postings behind the amount. */
                        postings_total: number;
                        rates: components["schemas"]["UsedRates"];
                        /** @description The number of the first line. */
                        offset: number;
                        /** @description Postings, the largest effective cost first. */
                        lines: {
                            number: number;
                            day: components["schemas"]["Date"];
                            node: string;
                            workload: string;
                            kind: string;
                            /** @enum {unknown} */
                            component: "gpu" | "cpu" | "memory" | "whole";
                            currency: components["schemas"]["Currency"];
                            amount: components["schemas"]["Amount"];
                            gpu_hours: components["schemas"]["GpuHours"];
                            gpu_hours_exact: components["schemas"]["ExactHours"];
                            /** @description The bill line */
                            charge: components["schemas"]["Digest"];
                        }[];
                        /** @description The number of the posting that is explained; null for a bucket. */
                        posting: number | null;
                        /** @description The id of the transfer that moved the explained posting; null if none did. */
                        bucket: components["schemas"]["Digest"] | null;
                        postings: components["schemas"]["Table"];
                        explanation: components["schemas"]["ExplanationStep"][];
                        /** @description Whether every recomputed amount equals the stored one. */
                        exact: boolean;
                        warnings: string[];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getFleet: {
        parameters: {
            query?: {
                /** @description Only this cluster. */
                cluster?: string;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of nodes, by cluster and name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description When the live data was last updated; null without live data. */
                        at: components["schemas"]["Instant"] | null;
                        clusters: {
                            cluster: string;
                            /**
                             * @description Whether a source reports what runs there. If not, a GPU without a holder is not
                             *     known to be free: only imports say what once ran.
                             */
                            watched: boolean;
                            /** @description The last day in the ledger on which a workload held something there. */
                            last_held: components["schemas"]["Date"] | null;
                        }[];
                        nodes: components["schemas"]["FleetNode"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getForecast: {
        parameters: {
            query?: {
                /**
                 * @description A dimension; by default, everything together.
                 * @example team
                 */
                by?: string;
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /** @description Which of the four costs of a charge. */
                cost?: "effective" | "billed" | "list" | "contracted" | "gpu_hours";
                /** @description Days ahead. */
                days?: number;
                /** @description A row for each day or month; a month includes what was spent in it. */
                step?: "none" | "day" | "month";
                /** @description The largest values have a forecast of their own; all others are one row. */
                top?: number;
                /** @description Forecast as on this day; only days before it are known. By default, today. */
                today?: string;
                /** @description Adds the range that holds 50 %. */
                half?: boolean;
                /**
                 * @description Adds a table of the methods tried, their errors, and whether the ranges held; and for users without a scope one of
                 *     how near the forecasts came that were kept.
                 */
                explain?: boolean;
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The forecast, and with `explain` how it was chosen. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    replayGuardrails: {
        parameters: {
            query: {
                /**
                 * @description Of the bill.
                 * @example 2026-03
                 */
                month: components["schemas"]["Month"];
                /** @description Only this one. */
                cluster?: string;
                /** @description The dimension of who is told of; by default, team. */
                by?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By decision, by rule, and by who met one. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    importExposition: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/plain": string;
                "application/openmetrics-text": string;
            };
        };
        responses: {
            /** @description All readable lines are on disk. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        samples: number;
                        /** @description Lines that can't be read. */
                        bad: number;
                        first_bad: string[];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listImports: {
        parameters: {
            query?: {
                /**
                 * @description Only this format.
                 * @example focus
                 */
                format?: string;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Import"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    importFile: {
        parameters: {
            query: {
                /**
                 * @description The name of the file, without a path, as the ledger shall call it.
                 * @example march.csv
                 */
                name: string;
                /**
                 * @description The cluster of the records; a bill names its own.
                 * @example lab
                 */
                cluster?: string;
                /**
                 * @description The format, as `--format` takes it; by default it is detected.
                 * @example focus
                 */
                format?: string;
                /** @description Why a bill is sent again. */
                reason?: string;
                /** @description Find what the file is and does, and write nothing. */
                preview?: boolean;
                /** @description Take a bill that takes money away, after a preview said so under `needs_confirm`: its `confirm_key`. It is refused with 409 where other sentences are to be confirmed by now. */
                confirm?: string;
                /** @description When the file was last changed: the time of a capture that states none, such as `kubectl get pods -o json`, which is refused without it. */
                changed?: string;
            };
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description The preview. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadReport"];
                };
            };
            /** @description The file is imported. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadReport"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            /** @description The file looks like cost that the ledger has already, or takes money away and nobody has confirmed it. Nothing was imported. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is larger than `serve.limits.body`. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listRejectedRows: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description The import's number. */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RejectedRow"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Only this customer. */
                customer?: string;
                /** @description Only this invoice. */
                number?: string;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["IssuedInvoice"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    issueInvoices: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    month: components["schemas"]["Month"];
                    /** @description The dimension of the customers, instead of the configured one. */
                    by?: string;
                    /** @description Dimensions with a section for each value. */
                    detail?: string[];
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description The invoices issued by this request. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        month: components["schemas"]["Month"];
                        issued_before: number;
                        data: components["schemas"]["IssuedInvoice"][];
                        notes: components["schemas"]["InvoiceNotes"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    previewInvoices: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    month: components["schemas"]["Month"];
                    /** @description The dimension of the customers, instead of the configured one. */
                    by?: string;
                    detail?: string[];
                    /** @description Only this customer. */
                    customer?: string;
                    reason?: string;
                    /**
                     * @description client (the default) is what a customer gets. books adds each document's reconciliation
                     *     with the bill, and the documents of what is charged to nobody.
                     * @enum {unknown}
                     */
                    view?: "client" | "books";
                };
            };
        };
        responses: {
            /** @description Issued invoices, drafts of what would be issued, and costs charged to nobody. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        month: components["schemas"]["Month"];
                        closed: boolean;
                        issued: components["schemas"]["InvoiceDocument"][];
                        drafts: components["schemas"]["InvoiceDocument"][];
                        not_charged: components["schemas"]["InvoiceDocument"][];
                        notes: components["schemas"]["InvoiceNotes"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getInvoice: {
        parameters: {
            query?: {
                /** @description The format; html is a complete page for printing. */
                format?: "json" | "html" | "text" | "csv" | "pdf";
                /** @description client, or books with what the others are charged and what nobody is. */
                view?: "client" | "books";
            };
            header?: never;
            path: {
                /**
                 * @description The invoice's number.
                 * @example INV-2026-03-0001
                 */
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The invoice. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceDocument"];
                    "text/html": string;
                    "text/plain": string;
                    "text/csv": string;
                    "application/pdf": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    sendInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /**
                 * @description The invoice's number.
                 * @example INV-2026-03-0001
                 */
                number: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sent_on": "2026-03-02"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: date
                     * @description The day on which it was sent, not in the future; by default today.
                     */
                    sent_on?: string;
                };
            };
        };
        responses: {
            /** @description The dispatch. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date */
                        sent_on: string;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    unsendInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /**
                 * @description The invoice's number.
                 * @example INV-2026-03-0001
                 */
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No dispatch is known. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    payInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /**
                 * @description The invoice's number.
                 * @example INV-2026-03-0001
                 */
                number: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "paid_on": "2026-04-02"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: date
                     * @description The day on which the payment came, not in the future; by default today.
                     */
                    paid_on?: string;
                };
            };
        };
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: date */
                        paid_on: string;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    unpayInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /**
                 * @description The invoice's number.
                 * @example INV-2026-03-0001
                 */
                number: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description No payment is known. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listKnownEvents: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["KnownEventEntry"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    setKnownEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the event. */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "from": "2026-05-01",
                 *       "key": "nlp",
                 *       "by": "team",
                 *       "per_day": "120 USD"
                 *     }
                 */
                "application/json": components["schemas"]["KnownEvent"];
            };
        };
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnownEventEntry"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    removeKnownEvent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the event. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is removed; its versions remain. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listKnownEventVersions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Of the event. */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes, the oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["KnownEventVersion"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getLimits: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /**
             * @description A table for money, one for GPU-hours, and one for GPUs at once, as far as there are any; with
             *     `stop_running` also that of getLimitStops.
             */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getLimitStops: {
        parameters: {
            query?: {
                /** @description Only this stage; commands are of what is due alone. */
                stage?: "due" | "announced" | "exempt";
                /** @description Only this cluster; required for commands where there are several. */
                cluster?: string;
                /** @description The format; `commands` are lines of a shell for what is due. */
                format?: "json" | "csv" | "text" | "commands";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "text/plain": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getLive: {
        parameters: {
            query?: {
                /** @description Dimensions or labels that have a column. */
                by?: string;
                /**
                 * @description Only these, as team=nlp; a dimension, a label, cluster or workload. May be repeated: all
                 *     apply.
                 */
                filter?: string[];
                /** @description The order, the largest first. */
                sort?: "cost" | "today" | "idle" | "gpus" | "since" | "busy" | "workload";
                /** @description The maximum number of rows; the total covers all. */
                limit?: number;
                /** @description Include workloads that ran today and have ended. */
                ended?: boolean;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            /** @description No live data yet. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["OtherProblem"];
        };
    };
    getLiveNow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As of the last update. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LiveNow"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getDocument: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            304: components["responses"]["NotModified"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listPeriods: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Period"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    closePeriod: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The month. */
                month: components["schemas"]["Month"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description For the record, in your words. */
                    reason?: string;
                    /** @description Why a month that is not over is closed all the same; it becomes part of the reason. */
                    even_so?: string;
                };
            };
        };
        responses: {
            /** @description The month is closed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Period"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            /** @description The month is closed already or not over, a charge of it is not posted exactly, rows of its bills are aside, a part of a delivery is missing, or the ledger has another total than the provider. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listPolicies: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["PolicyUse"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    comparePolicies: {
        parameters: {
            query: {
                /** @description The version of one policy. */
                a: components["schemas"]["Digest"];
                /** @description The version of the other policy. */
                b: components["schemas"]["Digest"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The lists are empty if the policies are the same. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyComparison"];
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its version. */
                version: components["schemas"]["Digest"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The policy. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyText"];
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getProfitability: {
        parameters: {
            query: {
                /** @description The booked month. */
                month: components["schemas"]["Month"];
                /** @description The clients' dimension; by default as configured. */
                by?: string;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency of the month. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    reconcile: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By month and currency. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        totals: components["schemas"]["ReconcileTotals"][];
                        /** @description Whether every charge is posted exactly. */
                        exact: boolean;
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listReconcileLines: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Only charges that are not posted exactly. */
                only_off?: boolean;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReconcileLine"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getRestatements: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: "json" | "csv" | "sheet" | "jsonl";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency; none if nothing was changed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listRoles: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All roles. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            role: components["schemas"]["Role"];
                            permissions: components["schemas"]["Permission"][];
                        }[];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Only this cluster. */
                cluster?: string;
                /** @description True for current runs only, false for replaced ones only. */
                current?: boolean;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Run"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    search: {
        parameters: {
            query: {
                /**
                 * @description At least two characters.
                 * @example nl
                 */
                text: string;
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description The number of values of each dimension. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values by dimension; `next` is always null. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            dimension: string;
                            value: string;
                            currency: components["schemas"]["Currency"];
                            effective_cost: components["schemas"]["Amount"];
                        }[];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Without a session, `user` is null and there are no permissions. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "user": "ana",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": {
                    user: string;
                    password: string;
                    /** @description Six digits from the authenticator app; or a recovery code. */
                    code?: string;
                };
            };
        };
        responses: {
            /** @description The user is signed in. */
            200: {
                headers: {
                    /** @description The session cookie. */
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is signed out. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    confirmSignIn: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "tin otter under 42 lamps"
                 *     }
                 */
                "application/json": {
                    password: string;
                    /** @description Of the second factor; or a recovery code. */
                    code?: string;
                };
            };
        };
        responses: {
            /** @description The sign-in is fresh again. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    beginOpenId: {
        parameters: {
            query?: {
                /**
                 * @description A path of this server to return to.
                 * @example /explore?by=team
                 */
                next?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirects to the provider. */
            302: {
                headers: {
                    /** @description The provider's sign-in page. */
                    Location?: string;
                    /** @description Binds the sign-in to this browser. */
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    finishOpenId: {
        parameters: {
            query?: {
                /** @description The provider's code. */
                code?: string;
                /** @description The state of the sign-in. */
                state?: string;
                /** @description The provider (RFC 9207). */
                iss?: string;
                /** @description Why the provider refuses. */
                error?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is signed in; redirects to the requested page. */
            302: {
                headers: {
                    /** @description A path of this server. */
                    Location?: string;
                    /** @description The session cookie. */
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    signOutByOpenId: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "logout_token": "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    /** @description Signed by the provider. */
                    logout_token: string;
                };
            };
        };
        responses: {
            /** @description They are signed out, or were never here. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example {} */
                    "application/json": Record<string, never>;
                };
            };
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "old": "correct horse battery",
                 *       "new": "tin otter under 42 lamps"
                 *     }
                 */
                "application/json": {
                    old: string;
                    /** @description Not a common one, and not made of the user name. */
                    new: string;
                };
            };
        };
        responses: {
            /** @description The password is changed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    confirmTotp: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "287082"
                 *     }
                 */
                "application/json": {
                    code: string;
                };
            };
        };
        responses: {
            /** @description It is required from the next sign-in on. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    beginTotp: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The secret for an authenticator app, shown once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The secret in base32. */
                        secret: string;
                        uri: string;
                        /** @description The address as a QR code. */
                        qr_svg: string;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    removeTotp: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": {
                    password: string;
                };
            };
        };
        responses: {
            /** @description It is no longer required. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    makeRecoveryCodes: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The codes, shown once. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        codes: string[];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description Another user; needs manage_users. */
                user?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions that go on. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            id: string;
                            user: components["schemas"]["UserName"];
                            /** @enum {unknown} */
                            by: "password" | "openid";
                            /** Format: date-time */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description To the minute.
                             */
                            seen_at: string;
                            /** Format: date-time */
                            expires_at: string;
                            /** @description The address it was begun from. */
                            peer: string;
                            /** @description What the browser called itself. */
                            agent: string;
                            /** @description Whether it is the one that asks. */
                            this_one: boolean;
                        }[];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    endOtherSessions: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All your sessions but this one have ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description How many. */
                        ended: number;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description As the list shows it. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getStaleness: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description By month. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        months: {
                            /** @description The billing month, such as 2026-03. */
                            month: string;
                            /**
                             * Format: date-time
                             * @description When the oldest of its current runs began.
                             */
                            allocated_at: string | null;
                            /** @description How many imports came after it. */
                            imports_since: number;
                            /** @description The number of the first of them. */
                            first_import: number | null;
                            /**
                             * Format: date-time
                             * @description When it came.
                             */
                            first_import_at: string | null;
                        }[];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listStatements: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: {
                            month: components["schemas"]["Month"];
                            /** @description An invoice for it is issued. */
                            invoiced: boolean;
                        }[];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getStatement: {
        parameters: {
            query?: {
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path: {
                /** @description The booked month. */
                month: components["schemas"]["Month"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency of the month. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getSummary: {
        parameters: {
            query?: {
                /** @description The month; by default, the newest one with costs. */
                month?: components["schemas"]["Month"];
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An element for each month and currency. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        months: components["schemas"]["MonthSummary"][];
                        /** @description The month before, up to the same day. */
                        previous_to_date: components["schemas"]["MonthSummary"][];
                        /** @description The last day with costs; null if there is none. */
                        as_of: components["schemas"]["Date"] | null;
                        rates: components["schemas"]["UsedRates"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Only this user; * for all users. */
                user?: string;
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list, including expired and revoked tokens. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Token"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    addToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "nightly export",
                 *       "only": [
                 *         "read_costs"
                 *       ],
                 *       "expires_at": "2027-01-01T00:00:00Z"
                 *     }
                 */
                "application/json": {
                    /** @description What it is for. */
                    name: string;
                    user?: components["schemas"]["UserName"];
                    /** @description Limits the token to these; by default, all permissions of the role. */
                    only?: components["schemas"]["Permission"][];
                    scope?: components["schemas"]["Scope"];
                    expires_at: components["schemas"]["Instant"];
                };
            };
        };
        responses: {
            /** @description The secret is shown once. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        token: components["schemas"]["Token"];
                        secret: string;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The token's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token is revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getTop: {
        parameters: {
            query?: {
                /** @description Dimensions or labels that have a column; empty, none. */
                by?: string;
                /**
                 * @description Only these, as team=nlp; a dimension, a label, cluster or workload. May be repeated: all
                 *     apply.
                 */
                filter?: string[];
                /** @description The order, the largest first. */
                sort?: "cost" | "today" | "idle" | "gpus" | "since" | "busy" | "workload";
                /** @description The maximum number of rows; 0 means all. The total covers all. */
                limit?: number;
                /** @description Include workloads that ran today and have ended. */
                ended?: boolean;
                /** @description The format. */
                format?: "json" | "csv" | "text";
                /** @description The width of the terminal, for text; below 20 no column is left out. */
                width?: number;
                /** @description Whether text has colours. */
                colour?: boolean;
                /** @description Whether text is ASCII only. */
                plain?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tables, as printed by `pennyweight top --format json`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>[];
                    "text/plain": string;
                    "text/csv": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            /** @description No live data yet. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["OtherProblem"];
        };
    };
    getUnits: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description A dimension, workload, cluster, or a label of outcomes (user, client, model). */
                by?: string;
                /**
                 * @description The counted measures, separated by commas; by default, all.
                 * @example requests
                 */
                measure?: string;
                /** @description Cost per this many; by default, per million tokens, or per one. */
                per?: number;
                /** @description The cost of each job over all of its attempts, useful and lost. */
                jobs?: boolean;
                /** @description The most expensive rows. */
                top?: number;
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each measure and currency; none if nothing was counted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /**
                 * @description Up to six dimensions separated by commas: `gpu`, `instance` (of a MIG GPU), and those of
                 *     /api/v1/activity.
                 * @example node
                 */
                by?: string;
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description A row for each minute or hour (of UTC), or local day, week or month. */
                step?: "none" | "minute" | "hour" | "day" | "week" | "month";
                /**
                 * @description `use`: how busy GPUs were. `health`: every other number of theirs that the ledger has, such as
                 *     power, temperature, clocks and links, as means, maxima or sums. `events`: XIDs, memory errors
                 *     and throttled time, each when it was. The last two are by `cluster`, `node`, `gpu`, `instance`
                 *     and `gpu_model` only, and refused (400) where a token's or a user's access is limited to a
                 *     scope.
                 */
                show?: "use" | "health" | "events";
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["TableFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One table, or its rows. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                    "application/vnd.apache.parquet": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["User"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    addUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "bo",
                 *       "display_name": "Bo Berg",
                 *       "role": "team_lead",
                 *       "scope": [
                 *         {
                 *           "dimension": "team",
                 *           "values": [
                 *             "vision"
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    name: components["schemas"]["UserName"];
                    display_name?: string;
                    email?: string;
                    role?: components["schemas"]["Role"];
                    scope?: components["schemas"]["Scope"];
                    /** @description Whether the user has a password here; true without a subject. */
                    local?: boolean;
                    /** @description For OpenID Connect: the issuer, a blank, and the subject there. */
                    subject?: string;
                };
            };
        };
        responses: {
            /** @description The user can sign in. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        user: components["schemas"]["User"];
                        /** @description Shown once; null for users without a password here. */
                        password: string | null;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's name. */
                name: components["schemas"]["UserName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    removeUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The user's name. */
                name: components["schemas"]["UserName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            /** @description The user is the last admin. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    changeUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The user's name. */
                name: components["schemas"]["UserName"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "finance"
                 *     }
                 */
                "application/json": {
                    display_name?: string;
                    email?: string;
                    role?: components["schemas"]["Role"];
                    scope?: components["schemas"]["Scope"];
                    disabled?: boolean;
                    /** @description False removes the second factor, for users who have lost it. */
                    has_totp?: boolean;
                };
            };
        };
        responses: {
            /** @description The user after the change. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            /** @description The user is the last admin. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    resetPassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The user's name. */
                name: components["schemas"]["UserName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The password, shown once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        password: string;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    endSessionsOfUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The user's name. */
                name: components["schemas"]["UserName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All sessions of the user have ended. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description How many. */
                        ended: number;
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listViews: {
        parameters: {
            query?: {
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SavedView"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    addView: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "NLP by user",
                 *       "query": "/explore?by=user&filter=team%3Dnlp",
                 *       "shared": true
                 *     }
                 */
                "application/json": {
                    name: string;
                    /** @description The address of a page. */
                    query: string;
                    /**
                     * @description Visible to users who see at least as much.
                     * @default false
                     */
                    shared?: boolean;
                };
            };
        };
        responses: {
            /** @description The view is saved. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    removeView: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The view's id. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The view is removed. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    scheduleView: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The view's id. */
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "every": "week"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    every: "day" | "week" | "month";
                    /** @description A receiver of `alerts.receivers` of the kind email, webhook or slack. */
                    receiver?: string;
                };
            };
        };
        responses: {
            /** @description The view. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedView"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    unscheduleView: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description The view's id. */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The view is sent no longer. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getWhatIfChoices: {
        parameters: {
            query: {
                /**
                 * @description Of the bill.
                 * @example 2026-03
                 */
                month: components["schemas"]["Month"];
                /** @description Whose GPU models and node pools; by default the first. */
                cluster?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Clusters, GPU models, node pools, and the rules of the scheduler. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        clusters: string[];
                        cluster: string;
                        models: components["schemas"]["NodesOfKind"][];
                        pools: components["schemas"]["NodesOfKind"][];
                        dimensions: string[];
                        schedulers: string[];
                        blocked: string[];
                        placements: string[];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listWhatIfRuns: {
        parameters: {
            query?: {
                /** @description Only of this month. */
                month?: components["schemas"]["Month"];
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WhatIfRun"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    startWhatIfRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "month": "2026-03",
                 *       "cluster": "prod",
                 *       "name": "20 nodes fewer",
                 *       "scenario": "nodes=-20"
                 *     }
                 */
                "application/json": {
                    month: components["schemas"]["Month"];
                    /** @description May be left out where the month has one. With `spill-over=cluster@…`: the clusters that are replayed together, separated by commas, or all. */
                    cluster?: string;
                    /** @description What is changed and asked: options of `pennyweight replay` without dashes, separated by `;`. Empty: the default scheduling. */
                    scenario?: string;
                    /** @description The scheduling that really ran, with scheduler, blocked, placement and lengths. */
                    calibration?: string;
                    /** @description For people. */
                    name?: string;
                    /** @description A dimension of the policy; by default, team. */
                    by?: string;
                    /**
                     * @default effective
                     * @enum {unknown}
                     */
                    cost?: "effective" | "billed" | "list" | "contracted";
                    /**
                     * @description Percent of GPU time by which the replay of what really ran may be off.
                     * @default 5
                     */
                    error_max?: number;
                    /**
                     * @description Percent by which its median and 95th percentile of waiting may be off, where most jobs say when they were submitted; half an hour is never too much.
                     * @default 50
                     */
                    wait_error_max?: number;
                };
            };
        };
        responses: {
            /** @description The same is under way already, or was answered from this ledger. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIfRun"];
                };
            };
            /** @description It waits for its turn. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIfRun"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getWhatIfRun: {
        parameters: {
            query?: {
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
            };
            header?: never;
            path: {
                /** @description Of the run. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIfDetail"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    endWhatIfRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Of the run. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is cancelled or forgotten. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getWhatIfTable: {
        parameters: {
            query?: {
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["TableFormat"];
            };
            header?: never;
            path: {
                /** @description Of the run. */
                id: string;
                /** @description Which one. */
                table: "calibration" | "jobs" | "range" | "fleets" | "tiers" | "mig" | "prices" | "speeds" | "commitments" | "teams" | "exact" | "costs" | "tier_costs" | "moments" | "waits" | "gantt" | "report";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /**
             * @description The table; `costs` and `tier_costs` have one for each currency, `gantt` what the first nodes held when. `range`,
             *     `fleets`, `tiers` and `mig` are there where they were asked for; `prices`, `speeds` and `commitments`
             *     where the scenario has list prices, replaces GPU models or buys commitments. `exact` has the figures of all jobs
             *     and of each team unrounded, with their units. `report` is a PDF, whatever
             *     `format` says.
             */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tables"];
                    "text/csv": string;
                    "application/jsonl": string;
                    "application/vnd.apache.parquet": string;
                    "application/pdf": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listWork: {
        parameters: {
            query?: {
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Only this cluster. */
                cluster?: string;
                /** @description Only items in this state. */
                state?: "done" | "due" | "waiting" | "claimed" | "unplanned";
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["WorkItem"][];
                        next: components["schemas"]["Next"];
                    };
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getWorkload: {
        parameters: {
            query: {
                /** @description Its cluster; by default, no cluster. */
                cluster?: string;
                /** @description The workload's id. */
                workload: string;
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month: components["schemas"]["Month"];
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its attempts, and its cost by the day. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadDetail"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    listWorkloads: {
        parameters: {
            query?: {
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all apply. A
                 *     kind in parentheses, such as team=(unallocated), selects that row of a report.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description An accounting month.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description The largest first, or by name. */
                sort?: "cost" | "idle" | "gpu_hours" | "workload";
                /** @description Only those whose name, cluster or owner has this in it; upper and lower case are the same. */
                text?: string;
                /**
                 * @description Convert all costs to this currency, at the rate of the last day of the month in which each is
                 *     booked; `original` keeps the billed currencies. By default, currencies.report.
                 */
                currency?: components["parameters"]["InCurrency"];
                /** @description The maximum number of entries. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to continue, `next` of the previous answer. Other texts are refused. */
                cursor?: components["parameters"]["Cursor"];
                /** @description The format; by default, from the Accept header. `sheet` is CSV whose texts no spreadsheet takes for formulas. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Workload"][];
                        next: components["schemas"]["Next"];
                    };
                    "text/csv": string;
                    "application/jsonl": string;
                };
            };
            304: components["responses"]["NotModified"];
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    remoteWrite: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `csrf` of GET /api/v1/session. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-protobuf": string;
            };
        };
        responses: {
            /** @description All samples are on disk. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is invalid; sending it again will not help. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            /** @description The body is larger than serve.body_bytes_max. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Neither version of remote_write. */
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: components["responses"]["BadParameter"];
            429: components["responses"]["TooMany"];
            /** @description It can't be stored now; send it again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            default: components["responses"]["OtherProblem"];
        };
    };
    showLinkedApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As it was sent. */
                link: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The request, and a form that decides while it is pending. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link is none of this server's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link has ended. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The approver may not approve it any more. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            429: components["responses"]["TooMany"];
            /** @description The requests can't be read now. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            default: components["responses"]["OtherProblem"];
        };
    };
    decideLinkedApproval: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description As it was sent. */
                link: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": {
                    /** @enum {unknown} */
                    decision: "approve" | "refuse";
                    /** @description Why; required of a refusal. */
                    note?: string;
                };
            };
        };
        responses: {
            /** @description It is decided, or waits for a second person. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link is none of this server's. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description The link has ended or has decided, or the request is not pending. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description No decision yet: something is missing, or the approver may not make it. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            429: components["responses"]["TooMany"];
            /** @description The requests can't be read or written now. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            default: components["responses"]["OtherProblem"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Yes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An exposition. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["OtherProblem"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Yes. A second line says if answers are slow, since their sums could not be brought up to date. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            429: components["responses"]["TooMany"];
            /** @description Not yet, or a source of nodes and holdings was not heard for two minutes; the answer has a line for each reason. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            default: components["responses"]["OtherProblem"];
        };
    };
}
