// Made by web/types.mjs from docs/api/openapi; not to be edited.
export interface paths {
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
         * Whether the audit log is whole.
         * @description Each entry holds the hash of the one before it. The last one that we know of is kept with the
         *     accounts, so that a log whose end was cut off is found out too.
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
    "/api/v1/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Costs by any dimensions.
         * @description A table for each currency. A row that nobody has stands under its kind in parentheses, such
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
         * How much of the GPU spend reaches somebody, and what stops the rest.
         * @description Who is bound to a scope sees what its holders were charged, and nothing of nobody's.
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
    "/api/v1/dimensions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What costs can be grouped and filtered by. */
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
        /** Values of a dimension, the costliest first. */
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
         * What changes, as server-sent events.
         * @description `live` with each look at what runs, its data as GET /api/v1/live/now; `rollup` with
         *     {"version": n} when costs changed. A comment every 15 seconds of silence. A stream ends after
         *     five minutes, and a browser opens the next by itself. It ends within a second where who asks
         *     may not any more: his session is over, his token revoked or expired, or he was changed.
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
         * Why an amount is what it is.
         * @description The largest postings of a bill line (`charge`), or behind a row of a report (`by` and `key`),
         *     and why the first of them is what it is. Who is bound to a scope is told of his own postings
         *     only, of others without names, and not what the whole line cost.
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
         * Each node and GPU, who holds it, how busy it is and what it costs.
         * @description Who is bound to a scope sees the nodes on which it holds something, others without names, and
         *     as the price of a node what the scope's workloads that are on that node alone pay for it.
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
    "/api/v1/import/prometheus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** An exposition in Prometheus' or OpenMetrics' text format. */
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
        /** What came in, the newest first. */
        get: operations["listImports"];
        put?: never;
        post?: never;
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
         * Rows of an import's file that could not be read or contradict what is there.
         * @description A row is kept aside once, however often its file came: imports of the same file show the same
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
         * Invoices that were issued, by number.
         * @description Who is bound to a scope gets those of its customers.
         */
        get: operations["listInvoices"];
        put?: never;
        /**
         * Issues what a closed month still needs, for ever.
         * @description A month is issued as a whole. Where something was issued before, only what differs since is:
         *     credit notes and supplements, which need a reason. Where nothing differs, nothing is issued.
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
        /** Drafts of a month's invoices; nothing is kept. */
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
        /** One invoice as it was issued, to the byte. */
        get: operations["getInvoice"];
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
        /** What runs now, whose it is and what an hour of it costs. */
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
        /** What all that runs now costs an hour, cluster by cluster. */
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
        /** Months of the accounts, the latest first. */
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
        /** Closes a month, for ever. */
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
        /** The rules by which runs divided, and those that are configured now; by first use. */
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
        /** What differs between two policies, rule by rule in words, and in their texts. */
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
        /** One policy, as its canonical text and in plain words. */
        get: operations["getPolicy"];
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
        /** Bill lines beside the sums of their postings, to the last digit. */
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
        /** Bill lines, each beside its postings, by their ids. */
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
        /** What deliveries changed of bills, both versions, where it is booked, and why. */
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
        /** The roles, and what each may do. */
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
        /** Allocations, by cluster, month and number; earlier ones too. */
        get: operations["listRuns"];
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
        /** Who is signed in, and how one can sign in. */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in with a name and a password, and the code of the second factor where there is one.
         * @description Sets the session's cookie. Where the password is right and a code is missing, the problem says
         *     `"needs": "code"`. Wrong names and wrong passwords are refused in the same words.
         */
        post: operations["signIn"];
        /** Sign out. The session is over at once, whoever has its cookie. */
        delete: operations["signOut"];
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
        /** Sign in by the OpenID provider; for browsers. */
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
         * Where the OpenID provider sends the browser back to.
         * @description A user who comes for the first time is made, with the role and the scope that his claims give
         *     him; at each later sign-in they are brought up to his claims. A name that somebody else has
         *     here is refused.
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
    "/api/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Change one's own password. Other sessions of the user end. */
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
        /** Prove that the app has the second factor. */
        put: operations["confirmTotp"];
        /** Begin to add a second factor (TOTP). It counts once a code of it was sent. */
        post: operations["beginTotp"];
        /** Take one's own second factor away. */
        delete: operations["removeTotp"];
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
        /** The figures of a month, of the one before, and of its same days. */
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
        /** One's own tokens; those of others with manage_users. */
        get: operations["listTokens"];
        put?: never;
        /**
         * Make a token for a program. It may do no more than its user, and it ends.
         * @description Only by a session; a token can't make tokens.
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
        /** Revoke a token; one of others with manage_users. */
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
         * What runs now, as `pennyweight top` shows it.
         * @description The same as GET /api/v1/live, laid out for a terminal where that is wanted.
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
        /** What a request, a million tokens or a training job cost. */
        get: operations["getUnits"];
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
        /** Add a user; a local one with a one-time password, that he must change. */
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
        /** Remove a user, his sessions, tokens and saved views. */
        delete: operations["removeUser"];
        options?: never;
        head?: never;
        /** Change a user. What is not stated is left; his sessions end where role, scope or `disabled` change. */
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
        /** Give a local user a one-time password. His sessions end. */
        post: operations["resetPassword"];
        delete?: never;
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
        /** One's own saved views, and those that others share with him; by name. */
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
        /** Remove a saved view of one's own. */
        delete: operations["removeView"];
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
         * What workers have divided and what is due again, by month and cluster.
         * @description A scope is divided by `pennyweight work`, on as many machines as wanted. It is due where its current run was not made by a worker, or by other rules, or where facts came since that matter to it.
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
        /** What became of one workload in a month. */
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
         * What each workload cost.
         * @description CSV and JSON lines hold all of them, without their first and last days.
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
        /** Samples as Prometheus' remote_write sends them, 1.0 and 2.0. */
        post: operations["remoteWrite"];
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
        /** What the server counts, for Prometheus. */
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
        /** Whether it is ready to be asked and sent to. */
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
        /**
         * @description An amount of money with every digit.
         * @example 12.5
         */
        Amount: string;
        AuditEntry: {
            number: number;
            at: components["schemas"]["Instant"];
            /** @description Empty where nobody was signed in. */
            actor: string;
            /** @description The address; empty for the command line. */
            peer: string;
            /** @example user.change */
            action: string;
            /** @example user bo */
            subject: string;
            /** @description What it was; null where there was nothing. Any JSON. */
            before: unknown;
            /** @description What it is; null where there is nothing any more. Any JSON. */
            after: unknown;
            hash: string;
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
        /** @description A decimal number, as a text. */
        Decimal: string;
        /** @description 128 bits, in hexadecimal. */
        Digest: string;
        /** @description By the names of the policy's dimensions; what has no value is left out. */
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
            /** @description Empty where nobody has listed the node's cards. */
            uuid: string;
            model: string;
            /** @description Profiles of its instances. */
            mig: string[];
            held: boolean;
            busy: components["schemas"]["Part"];
            memory: components["schemas"]["Part"];
            holders: {
                /** @description `others` where it is not for who asks. */
                workload: string;
                /** @description Of the card: 1, 0.50, or a MIG profile. */
                share: string;
                owner: string;
                /**
                 * @description Whether it is known that it is on this card. The scheduler may say only of which
                 *     node, and how many; it is then shown on cards that are free.
                 */
                placed: boolean;
            }[];
            /** @description The node's price divided equally between its cards. */
            cost_per_hour: components["schemas"]["MaybeAmount"];
        };
        FleetNode: {
            cluster: string;
            node: string;
            instance_type: string;
            region: string;
            /**
             * @description Whether anybody holds a GPU of it now.
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
            /** @description The file, as it was given. */
            name: string;
            at: components["schemas"]["Instant"];
            /** @enum {unknown} */
            style: "guarded" | "replacement" | "delta" | "ledger";
            /** @description Why it was sent again; may be empty. */
            reason: string;
            /** @description New ones; so are the counts below. */
            charges: number;
            holdings: number;
            nodes: number;
            gpus: number;
            usages: number;
            outages: number;
            corrections: number;
            outcomes: number;
            /** @description Rows that were kept aside. */
            rejected: number;
            restated: {
                /** @description Lines that left an open month. */
                removed: number;
                /** @description Lines of closed months, taken back in an open one. */
                reversed: number;
                /** @description Lines of closed months, booked in an open one. */
                late: number;
            };
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
            /** @description With the provider's bill of the month. Nobody gets it who is bound to a scope. */
            reconciliation?: Record<string, never>;
        };
        IssuedInvoice: {
            /** @example INV-2026-03-0001 */
            number: string;
            /** @enum {unknown} */
            kind: "invoice" | "credit_note" | "supplement";
            month: components["schemas"]["Month"];
            /** @description The dimension whose value the customer is. */
            by: string;
            customer: string;
            /** @description The number of the invoice that it puts right. */
            refers_to: string | null;
            net: components["schemas"]["Amount"];
            total: components["schemas"]["Amount"];
            currency: components["schemas"]["Currency"];
            issued_at: components["schemas"]["Instant"];
            digest: components["schemas"]["Digest"];
        };
        LiveNow: {
            /** @description Of the last look; null before the first. */
            at: components["schemas"]["Instant"] | null;
            clusters: {
                cluster: string;
                currency: components["schemas"]["MaybeText"];
                cost_per_hour: components["schemas"]["MaybeAmount"];
                held_per_hour: components["schemas"]["MaybeAmount"];
                held_idle_per_hour: components["schemas"]["MaybeAmount"];
                unallocated_per_hour: components["schemas"]["MaybeAmount"];
                gpus: number;
                /** @description With three digits. */
                gpus_held: number;
                /** @description Those that are held, by how busy they were seen; null where nothing was. */
                gpus_busy: number | null;
                notes: string[];
            }[];
        };
        /** @description An amount; null where no price is known, or it is not for who asks. */
        MaybeAmount: string | null;
        MaybeText: string | null;
        /** @example 2026-03 */
        Month: string;
        /** @description A month's cost by what became of it, before anything is spread. */
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
        /** @description The cursor of the next page; null where this is the last. */
        Next: string | null;
        /** @description From 0.00 to 1.00; null where nothing was seen. */
        Part: string | null;
        /**
         * @description A part of a hundred, with up to four digits; null where there is no whole.
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
            /** @description Of the lines and runs of a closed month. */
            digest: components["schemas"]["Digest"] | null;
            /** @description Bill lines of a closed month. */
            lines: number | null;
            /** @description What is posted in it. */
            effective: {
                currency: components["schemas"]["Currency"];
                amount: components["schemas"]["Amount"];
            }[];
        };
        /** @enum {unknown} */
        Permission: "read_costs" | "read_live" | "read_fleet" | "read_bills" | "read_invoices" | "read_rules" | "read_audit" | "read_metrics" | "issue_invoices" | "close_periods" | "manage_users" | "manage_own" | "send_telemetry";
        PolicyComparison: {
            a: components["schemas"]["Digest"];
            b: components["schemas"]["Digest"];
            differences: {
                /** @description The title of the rules. */
                where: string;
                /** @description A sentence that only a has. */
                a: string | null;
                /** @description A sentence that only b has. */
                b: string | null;
            }[];
            /** @description Lines of the canonical texts that only one of them has. */
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
            /** @description All of it, defaults too, as YAML. */
            text: string;
            in_words: {
                title: string;
                sentences: string[];
            }[];
        };
        PolicyUse: {
            version: components["schemas"]["Digest"];
            name: string | null;
            /** @description By a run; null where none used it yet. */
            first_used: components["schemas"]["Instant"] | null;
            last_used: components["schemas"]["Instant"] | null;
            runs: number;
            /** @description Whether the next run will use it. */
            current: boolean;
        };
        /** @description What went wrong, as RFC 9457 has it. */
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            /** @description What the next try must say besides */
            needs?: string;
        };
        ReconcileLine: {
            /** @description Its id. */
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
            /** @description What is off in words; empty where nothing is. */
            off: string;
        };
        ReconcileTotals: {
            month: components["schemas"]["Month"];
            currency: components["schemas"]["Currency"];
            billed: components["schemas"]["FourCosts"];
            posted: components["schemas"]["FourCosts"];
            difference: components["schemas"]["FourCosts"];
            lines: number;
            /** @description Not posted exactly. */
            lines_off: number;
            /** @description Among them, those that no run has posted. */
            lines_unposted: number;
            transfers: number;
            /** @description Those that do not add up to zero. */
            transfers_off: number;
            /** @description Posted, and taken back by a delivery since. */
            lines_gone: number;
            exact: boolean;
        };
        RejectedRow: {
            /** @description 0 where the format has no lines. */
            line: number;
            /** @description At fault; empty for the row as a whole. */
            column: string;
            reason: string;
            text: string;
        };
        /** @enum {unknown} */
        Role: "viewer" | "team_lead" | "finance" | "operator" | "admin";
        /**
         * @description By the columns' names. Money, GPU-hours and percentages are texts; a column of GPU-hours has
         *     a second key, NAME_exact. Null is an empty cell.
         */
        Row: {
            [key: string]: string | number | null;
        };
        Run: {
            /** @description Empty for what belongs to no cluster. */
            cluster: string;
            month: components["schemas"]["Month"];
            /** @description Within its cluster and month. */
            number: number;
            /** @description Whether it counts, and no later one took its place. */
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
        };
        /** @description What somebody sees. All parts must hold; without any he sees everything. */
        Scope: {
            /** @example team */
            dimension: string;
            /** @description One of these. */
            values: string[];
        }[];
        Session: {
            user: {
                name: components["schemas"]["UserName"];
                display_name: string;
                role: components["schemas"]["Role"];
                scope: components["schemas"]["Scope"];
                /** @description Whether he has a password here. */
                local: boolean;
                has_totp: boolean;
            } | null;
            /** @description What he may do here and now. */
            permissions?: components["schemas"]["Permission"][];
            /** @description For the header X-CSRF-Token; empty with a token. */
            csrf?: string;
            must_change_password?: boolean;
            version: string;
            sign_in: {
                password: boolean;
                openid: {
                    /** @description Of the button. */
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
            /** @description Empty for all of the role. */
            only: components["schemas"]["Permission"][];
            scope: components["schemas"]["Scope"];
            created_at: components["schemas"]["Instant"];
            expires_at: components["schemas"]["Instant"];
            last_used: components["schemas"]["Instant"] | null;
            revoked: boolean;
        };
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
        WorkItem: {
            /** @description Empty for what belongs to no cluster; null for a month as a whole, whose clusters are to be found out first. */
            cluster: string | null;
            month: components["schemas"]["Month"];
            /**
             * @description `waiting`: due, once the clusters of its month are up to date. `claimed`: a worker is at it, or was when it died; another one takes over when its lease is over.
             * @enum {unknown}
             */
            state: "done" | "due" | "waiting" | "claimed" | "unplanned";
            /** @description Why it is due. */
            because: string | null;
            /** @description The number of the run that counts. */
            run: number | null;
            /** @description When a worker divided it last; it may have found nothing to change. */
            divided_at: components["schemas"]["Instant"] | null;
            /** @description The facts of so many imports were read for it. */
            imports_seen: number | null;
            /** @description Where it is due: how many came since. */
            imports_behind: number;
            /** @description When the first of them came that matters to it; null where it is not due by an import. */
            behind_since: components["schemas"]["Instant"] | null;
            /** @description Who is at it. */
            worker: string | null;
            claimed_at: components["schemas"]["Instant"] | null;
            /** @description When the worker was last heard of, by its own clock. */
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
            /** @description Of the latest attempt, as the scheduler has them. */
            labels: {
                [key: string]: string;
            };
            attempts: {
                /** @description In the order of time. */
                attempt: number;
                /** @description As the scheduler counts it; may be empty. */
                name: string;
                from: components["schemas"]["Instant"];
                /** @description Null while it goes on. */
                to: components["schemas"]["Instant"] | null;
                /** @description How, in the words of the scheduler. */
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
             * @description Of the latest attempt.
             * @enum {unknown}
             */
            outcome?: "useful" | "lost" | "running" | "unknown";
            /** @description What attempts cost that failed or were ended; left out where it is not known. */
            lost_cost?: components["schemas"]["Amount"];
            /** @description Of lost_cost. */
            currency?: components["schemas"]["Currency"];
        };
    };
    responses: {
        /** @description A parameter or the body is wrong; the detail names it. */
        BadParameter: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It is in the way of what is there already. */
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
        /** @description There is no such thing. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The asker has it already (If-None-Match). */
        NotModified: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Nobody is signed in, or what was sent to say who asks is over or unknown. */
        NotSignedIn: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Anything else that went wrong. */
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
                /** @description In so many seconds. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
        CsrfToken: string;
        /** @description Where to go on, `next` of the answer before. Another text is refused. */
        Cursor: string;
        /**
         * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all must hold. A
         *     kind in parentheses, such as team=(unallocated), is a row as a report shows it.
         * @example [
         *       "team=nlp"
         *     ]
         */
        Filter: string[];
        /** @description The first local day. */
        From: components["schemas"]["Date"];
        /** @description How many entries at most. */
        Limit: number;
        /**
         * @description A month of the accounts.
         * @example 2026-03
         */
        Month: components["schemas"]["Month"];
        /** @description As what; without, as Accept says. */
        RowFormat: "json" | "csv" | "jsonl";
        /** @description As what; without, as Accept says. */
        TableFormat: "json" | "csv" | "jsonl" | "parquet";
        /** @description The last local day, inclusive. */
        To: components["schemas"]["Date"];
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAudit: {
        parameters: {
            query?: {
                /** @description Entries before this number; `next` of the answer before. */
                before?: number;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description By this one alone. */
                actor?: string;
                /**
                 * @description Of this kind alone.
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
            /** @description A page of it. */
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
            /** @description What was found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        whole: boolean;
                        /** @description The last entry. Keep it elsewhere, and hold the log to it. */
                        head: {
                            number: number;
                            hash: string;
                        };
                        /** @description The first that is not right. */
                        bad_line: number | null;
                        reason: string | null;
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
    getCosts: {
        parameters: {
            query?: {
                /**
                 * @description One to six dimensions with commas between them. Without, the policy's first.
                 * @example team,user
                 */
                by?: string;
                /**
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all must hold. A
                 *     kind in parentheses, such as team=(unallocated), is a row as a report shows it.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description A row for each day, week (from Monday) or month. */
                step?: "none" | "day" | "week" | "month";
                /** @description Which of the bill's costs. */
                cost?: "effective" | "billed" | "list" | "contracted" | "all";
                /** @description The largest first, or by name. */
                sort?: "cost" | "key";
                /** @description So many owners, and all others as one row; 0 means all. */
                top?: number;
                /**
                 * @description Everything in this one, and at which rates; `original` means each as it is billed.
                 *     Without, as currencies.report says.
                 */
                currency?: string;
                /** @description What was told at this instant. */
                as_of?: components["schemas"]["Instant"];
                /**
                 * @description Everything; what somebody held, used or not; or what was used. `filter=kind=…` says it
                 *     finer.
                 */
                kinds?: "all" | "held" | "used";
                /** @description As what; without, as Accept says. */
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
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /**
                 * @description Dimensions that labels give, with commas between them; without, the first.
                 * @example team
                 */
                by?: string;
                /** @description Places of each reason. */
                top?: number;
                /** @description As what; without, as Accept says. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Of each dimension and currency, and the places where money stopped. */
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
    listDimensions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Those that labels give by the policy, then those that every posting has. */
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
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all must hold. A
                 *     kind in parentheses, such as team=(unallocated), is a row as a report shows it.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description Only values that begin so. */
                prefix?: string;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Of the dimension.
                 * @example team
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values; `next` is null, since a chooser asks with a longer prefix. */
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
                /** @description The id of a bill line. */
                charge?: components["schemas"]["Digest"];
                /** @description The dimensions of a report … */
                by?: string;
                /**
                 * @description … and a row of it, as the report shows it; values with commas between them.
                 * @example nlp
                 */
                key?: string;
                /**
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description How many postings. */
                top?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The postings, and the steps from the bill line to the amount. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        postings: components["schemas"]["Table"];
                        explanation: components["schemas"]["ExplanationStep"][];
                        /** @description Whether every amount, computed again, is the stored one. */
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
                /** @description Of this cluster. */
                cluster?: string;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
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
                        /** @description When it was last looked who runs; null where nobody looks. */
                        at: components["schemas"]["Instant"] | null;
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
    importExposition: {
        parameters: {
            query?: never;
            header?: {
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description What was readable is on disk. */
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
                 * @description Of this format.
                 * @example focus
                 */
                format?: string;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
    listRejectedRows: {
        parameters: {
            query?: {
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Of the import. */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Of this customer. */
                customer?: string;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    month: components["schemas"]["Month"];
                    /** @description The customers' dimension, over the configured one. */
                    by?: string;
                    /** @description Dimensions with a section for each value. */
                    detail?: string[];
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description What was issued now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        month: components["schemas"]["Month"];
                        issued_before: number;
                        data: components["schemas"]["IssuedInvoice"][];
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    month: components["schemas"]["Month"];
                    /** @description The customers' dimension, over the configured one. */
                    by?: string;
                    detail?: string[];
                    /** @description Only what is his. */
                    customer?: string;
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Those that were issued, those that issuing would make, and what nobody is charged for. */
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
                /** @description As what; html is a page of its own, made for printing. */
                format?: "json" | "html" | "text" | "csv";
            };
            header?: never;
            path: {
                /**
                 * @description Its number.
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
    getLive: {
        parameters: {
            query?: {
                /** @description Dimensions or labels that have a column. */
                by?: string;
                /**
                 * @description Only these, as team=nlp; a dimension, a label, cluster or workload. May be repeated: all
                 *     must hold.
                 */
                filter?: string[];
                /** @description By what, the most first. */
                sort?: "cost" | "today" | "idle" | "gpus" | "since" | "busy" | "workload";
                /** @description How many rows at most; the total is of all. */
                limit?: number;
                /** @description Also what ran today and has ended. */
                ended?: boolean;
                /** @description As what; without, as Accept says. */
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
            /** @description Nothing was looked at yet. */
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
            /** @description Of the last look. */
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
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path: {
                /** @description Which. */
                month: components["schemas"]["Month"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description In your words, for the record. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description It is closed. */
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
            /** @description It is closed already, or a line of it is not posted exactly. */
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
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                /** @description The version of the one. */
                a: components["schemas"]["Digest"];
                /** @description The version of the other. */
                b: components["schemas"]["Digest"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Nothing in the lists where they are the same. */
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
    reconcile: {
        parameters: {
            query?: {
                /**
                 * @description A month of the accounts.
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
                        /** @description Whether every line of all of them is. */
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
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Only lines that are not posted exactly. */
                only_off?: boolean;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description As what; else the request's Accept says. */
                format?: "json" | "csv" | "jsonl";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each currency; none where nothing was changed. */
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
            /** @description All of them. */
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
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Of this cluster. */
                cluster?: string;
                /** @description Only those that count now, or only those whose place another one took. */
                current?: boolean;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Of nobody, `user` is null and there are no permissions. */
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
                    /** @description Six digits of the authenticator app. */
                    code?: string;
                };
            };
        };
        responses: {
            /** @description He is in. */
            200: {
                headers: {
                    /** @description The session. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description He is out. */
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
                 * @description A path of ours to come back to.
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
            /** @description To the provider. */
            302: {
                headers: {
                    /** @description Where it asks for consent. */
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
                /** @description Of the provider. */
                code?: string;
                /** @description Of the sign-in that was begun. */
                state?: string;
                /** @description The provider, as RFC 9207 has it. */
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
            /** @description He is in, and goes on where he wanted to. */
            302: {
                headers: {
                    /** @description A path of ours. */
                    Location?: string;
                    /** @description The session. */
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
    changePassword: {
        parameters: {
            query?: never;
            header?: {
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
                    /** @description Not among the most common ones, nor made of the name. */
                    new: string;
                };
            };
        };
        responses: {
            /** @description It is the new one from now on. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description It is asked for from the next sign-in on. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
                "X-CSRF-Token"?: components["parameters"]["CsrfToken"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What an authenticator app needs; it is shown once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description In base32. */
                        secret: string;
                        uri: string;
                        /** @description The address as a picture. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description It is asked for no more. */
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
    getSummary: {
        parameters: {
            query?: {
                /** @description Which; without, the newest that has costs. */
                month?: components["schemas"]["Month"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A line for each month and currency. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        months: components["schemas"]["MonthSummary"][];
                        /** @description The month before, up to the same day. */
                        previous_to_date: components["schemas"]["MonthSummary"][];
                        /** @description The last day that has costs; null where none has. */
                        as_of: components["schemas"]["Date"] | null;
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
                /** @description Of this user; * for everybody's. */
                user?: string;
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them, those that are over or revoked among them. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
                    /** @description No more than these; all that the role may where it is left out. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description Nobody is let in with it any more. */
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
                 *     must hold.
                 */
                filter?: string[];
                /** @description By what, the most first. */
                sort?: "cost" | "today" | "idle" | "gpus" | "since" | "busy" | "workload";
                /** @description How many rows at most; 0 means all. The total is of all. */
                limit?: number;
                /** @description Also what ran today and has ended. */
                ended?: boolean;
                /** @description As what. */
                format?: "json" | "csv" | "text";
                /** @description Columns of the terminal, for text; below 20 nothing is left out for it. */
                width?: number;
                /** @description Whether text has colours. */
                colour?: boolean;
                /** @description Whether text keeps to ASCII. */
                plain?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tables, as `pennyweight top --format json` prints them. */
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
            /** @description Nothing was looked at yet. */
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
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description A dimension, workload, cluster, or a label of outcomes (user, client, model). */
                by?: string;
                /**
                 * @description What is counted, with commas between them; without, all there are.
                 * @example requests
                 */
                measure?: string;
                /** @description Cost of so many; without, a million tokens, or one. */
                per?: number;
                /** @description What each job cost over all of its attempts, useful and lost. */
                jobs?: boolean;
                /** @description The most expensive rows. */
                top?: number;
                /** @description As what; without, as Accept says. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A table for each measure and currency; none where nothing was counted. */
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
    listUsers: {
        parameters: {
            query?: {
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
                    /** @description Whether he has a password here; true without a subject. */
                    local?: boolean;
                    /** @description Of OpenID Connect: the issuer, a blank, and his subject there. */
                    subject?: string;
                };
            };
        };
        responses: {
            /** @description He can sign in. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        user: components["schemas"]["User"];
                        /** @description Shown once; null where he has none here. */
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
            /** @description He. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description He is gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["NotSignedIn"];
            403: components["responses"]["MayNot"];
            404: components["responses"]["NotFound"];
            /** @description He is the last admin. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
                    /** @description False takes his second factor away, for one who has lost it. */
                    has_totp?: boolean;
                };
            };
        };
        responses: {
            /** @description As he is now. */
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
            /** @description He is the last admin. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description Shown once. */
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
    listViews: {
        parameters: {
            query?: {
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
                     * @description Shown to others who see as much.
                     * @default false
                     */
                    shared?: boolean;
                };
            };
        };
        responses: {
            /** @description It is saved. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description It is gone. */
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
    listWork: {
        parameters: {
            query?: {
                /**
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description Of this cluster. */
                cluster?: string;
                /** @description Only what is so. */
                state?: "done" | "due" | "waiting" | "claimed" | "unplanned";
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                /** @description Its cluster; without, that of none. */
                cluster?: string;
                /** @description Its id. */
                workload: string;
                /**
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month: components["schemas"]["Month"];
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
                 * @description DIMENSION=VALUE[,VALUE…] or DIMENSION!=…; may be repeated up to 20 times, and all must hold. A
                 *     kind in parentheses, such as team=(unallocated), is a row as a report shows it.
                 * @example [
                 *       "team=nlp"
                 *     ]
                 */
                filter?: components["parameters"]["Filter"];
                /**
                 * @description A month of the accounts.
                 * @example 2026-03
                 */
                month?: components["parameters"]["Month"];
                /** @description The first local day. */
                from?: components["parameters"]["From"];
                /** @description The last local day, inclusive. */
                to?: components["parameters"]["To"];
                /** @description The largest first, or by name. */
                sort?: "cost" | "idle" | "gpu_hours" | "workload";
                /** @description How many entries at most. */
                limit?: components["parameters"]["Limit"];
                /** @description Where to go on, `next` of the answer before. Another text is refused. */
                cursor?: components["parameters"]["Cursor"];
                /** @description As what; without, as Accept says. */
                format?: components["parameters"]["RowFormat"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
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
                /** @description What GET /api/v1/session gave as `csrf`. Needed with a cookie, not with a token. */
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
            /** @description All that was sent is on disk. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The sender is wrong; sending it again will not help. */
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
            /** @description It can't be kept now; send it again. */
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
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is. */
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
            /** @description It is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            429: components["responses"]["TooMany"];
            /** @description Not yet; a line for each reason. */
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
