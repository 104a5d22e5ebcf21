// Workload: one job or service, from its first attempt to its last; without one in the address, the list
// of the most expensive ones.
import { useRoute } from "../../app/router";
import { Detail, Find } from "./detail";
import { Workloads } from "./list";

export default function Workload() {
  const { query } = useRoute();
  const workload = query.get("workload");
  const cluster = query.get("cluster");
  if (!workload) return <Workloads />;
  return cluster === null ? <Find workload={workload} /> : <Detail workload={workload} cluster={cluster} />;
}
