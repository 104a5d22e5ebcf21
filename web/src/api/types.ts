// The API's types by the names that pages use. They come from schema.d.ts, which web/types.mjs generates from
// the OpenAPI document, so a page that reads a missing field does not compile.
import type { components, operations } from "./schema";

type Schemas = components["schemas"];
type Answer<O extends keyof operations> = operations[O] extends {
  responses: { 200: { content: { "application/json": infer Body } } };
}
  ? Body
  : never;

export type Problem = Pick<Schemas["Problem"], "title" | "status" | "detail"> & Partial<Schemas["Problem"]>;

export interface List<T> {
  data: T[];
  next?: string | null;
}

export type ApiColumn = Schemas["Column"];
export type ColumnKind = ApiColumn["kind"];
export type Row = Schemas["Row"];
export type Cell = Row[string];
export type ApiTable = Schemas["Table"];
export type Tables = Schemas["Tables"];
export type Alerts = Schemas["Alerts"];
export type Alert = Schemas["Alert"];
export type AlertSilence = Schemas["AlertSilence"];
export type WhatIfChoices = Answer<"getWhatIfChoices">;
export type WhatIfRun = Schemas["WhatIfRun"];
export type WhatIfDetail = Schemas["WhatIfDetail"];
export type Approval = Schemas["Approval"];
export type ApprovalDetail = Schemas["ApprovalDetail"];
export type AdviceStep = Schemas["AdviceStep"];

export type Dimension = Answer<"listDimensions">["data"][number];
export type DimensionValue = Answer<"listDimensionValues">["data"][number];
export type Found = Answer<"search">["data"][number];
export type IssuedInvoice = Schemas["IssuedInvoice"];
export type SummaryMonth = Schemas["MonthSummary"];
export type Summary = Answer<"getSummary">;
export type Currencies = Answer<"listCurrencies">;
export type Staleness = Answer<"getStaleness">;
export type Explanation = Answer<"explain">;
export type Section = Schemas["ExplanationStep"];
export type Fact = Section["facts"][number];
export type WorkloadLine = Schemas["Workload"];
export type WorkloadDetail = Schemas["WorkloadDetail"];
export type Attempt = WorkloadDetail["attempts"][number];
export type WorkloadDay = WorkloadDetail["days"][number];
export type UploadReport = Schemas["UploadReport"];
export type LiveNow = Schemas["LiveNow"];
export type LiveCluster = LiveNow["clusters"][number];
export type FleetNode = Schemas["FleetNode"];
export type FleetGpu = Schemas["FleetGpu"];
export type Fleet = Answer<"getFleet">;

export type RoleName = Schemas["Role"];
export type Permission = Schemas["Permission"];
export type ScopeFilter = Schemas["Scope"][number];
export type Session = Schemas["Session"];
export type SessionUser = NonNullable<Session["user"]>;
export type User = Schemas["User"];
export type Token = Schemas["Token"];
export type AuditEntry = Schemas["AuditEntry"];
export type Annotation = Schemas["Annotation"];
export type KnownEvent = Schemas["KnownEvent"];
export type KnownEventEntry = Schemas["KnownEventEntry"];
export type SavedView = Schemas["SavedView"];
export type OpenSession = Answer<"listSessions">["data"][number];
export type Enrolment = Answer<"beginTotp">;
