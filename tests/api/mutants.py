#!/usr/bin/env python3
"""Removes one check of the program after another, and verifies that a test notices.

usage: mutants.py BUILD_FOLDER [NAME… | --of access|approvals]

Each mutant is one change to a line of the guard, the scoped queries or the invoices, which
test_authorisation.py must notice, or to a guard of approvals, of whose a workload is, of what reviews are judged
by, or of what keeps pods apart, which the test that it names must. The
program is built once in BUILD_FOLDER with all of them, each asleep until PENNYWEIGHT_MUTANT names it, and
then tested with one after another. Of access that takes a minute for each, so ctest does not run this: run
it by hand after a change of these files. The tests must pass while all are asleep. The sources are restored
in any case, and the program with them. Exits 1 if a mutant survives, or if the line that it changes no
longer exists.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# name: (file, a text that occurs once, its replacement; {on}: whether the mutant is awake)
GUARD, PRINCIPAL = "src/server/api/guard.cc", "src/server/access/principal.cc"
QUERIES = "src/server/api/scoped_queries.cc"
INVOICES, TOKENS = "src/server/api/invoices.cc", "src/server/access/accounts_tokens.cc"
SCOPED = "query.scope = who_.scope;\n  "
MUTANTS = {
    "every route is open": (GUARD, "if (route.open) return", "if (route.open || {on}) return"),
    "no CSRF token is required": (
        GUARD, "if (has_cookie && changes_something", "if (!{on} && has_cookie && changes_something"),
    "one-time passwords allow everything": (
        GUARD, "!is_of_session(route.path)) {", "!is_of_session(route.path) && !{on}) {"),
    "scoped users are denied nothing": (
        GUARD, "who.is_scoped() && is_denied_to_scoped", "!{on} && who.is_scoped() && is_denied_to_scoped"),
    "scoped users read bills": (
        GUARD, "      return true;\n    case Permission::kApprove:",
        "      return !({on} && permission == Permission::kReadBills);\n"
        "    case Permission::kApprove:"),
    "roles may do everything": (PRINCIPAL, "return allows(who.role, permission);",
                                "return {on} || allows(who.role, permission);"),
    "viewers read rules": (
        PRINCIPAL, "bool viewer_may(Permission permission) {",
        "bool viewer_may(Permission permission) {\n"
        "  if ({on} && permission == Permission::kReadRules) return true;"),
    "a token's limits do not count": (PRINCIPAL, "if (who.only && ", "if (!{on} && who.only && "),
    "tokens need no fresh sign-in and name nothing": (
        GUARD, "if (needed && who.only && std::ranges::count(*who.only, *needed) > 0)",
        "if (needed && ({on} || (who.only && std::ranges::count(*who.only, *needed) > 0)))"),
    "tokens make admins": (GUARD, "if (role == access::Role::kAdmin) return false;",
                           "if (role == access::Role::kAdmin) return {on};"),
    "tokens reset passwords": (
        "src/server/api/users.cc", "if (auto problem = refuse_token(request)) return",
        "if (auto problem = refuse_token(request); problem && !{on}) return"),
    "tokens end sessions": (
        "src/server/api/sessions.cc",
        "if (auto problem = refuse_token(request)) return *std::move(problem);\n  const Principal& who = "
        "principal_of(request);\n  auto change = session_change(",
        "if (auto problem = refuse_token(request); problem && !{on}) return *std::move(problem);\n"
        "  const Principal& who = principal_of(request);\n  auto change = session_change("),
    "sums are not cut": (
        QUERIES, "query.filters.insert(query.filters.end(), who_.scope.begin(), who_.scope.end());",
        "if (!{on}) query.filters.insert(query.filters.end(), who_.scope.begin(), who_.scope.end());"),
    "explain is not cut": (QUERIES, SCOPED + "std::optional<ExplainResult>",
                           "if (!{on}) " + SCOPED + "std::optional<ExplainResult>"),
    "units are not cut": (QUERIES, SCOPED + "std::vector<Table>",
                          "if (!{on}) " + SCOPED + "std::vector<Table>"),
    "coverage is not cut": (QUERIES, SCOPED + "CoverageResult",
                            "if (!{on}) " + SCOPED + "CoverageResult"),
    "activity is not cut": (
        QUERIES, SCOPED + "return ask_ledger(services_, [&](Store& store) {\n    return query_activity",
        "if (!{on}) " + SCOPED +
        "return ask_ledger(services_, [&](Store& store) {\n    return query_activity"),
    "usage is not cut": (
        QUERIES, SCOPED + "return ask_ledger(services_, [&](Store& store) {\n    return query_usage",
        "if (!{on}) " + SCOPED +
        "return ask_ledger(services_, [&](Store& store) {\n    return query_usage"),
    "advice is not cut": (QUERIES, "if (!is_scoped()) return answer;\n  std::erase_if(answer.proposals",
                          "if (!is_scoped() || {on}) return answer;\n"
                          "  std::erase_if(answer.proposals"),
    "budgets are not cut": ("src/server/api/budget_scope.cc", "if (!who.is_scoped()) return true;",
                            "if (!who.is_scoped() || {on}) return true;"),
    "approvals are not cut": ("src/server/api/approvals.cc", "return !who.is_scoped() || request.by",
                              "return {on} || !who.is_scoped() || request.by"),
    "what runs now is not cut": (QUERIES, "view == nullptr || !is_scoped()) return view;",
                                 "view == nullptr || !is_scoped() || {on}) return view;"),
    "the fleet is not cut": (QUERIES, "if (!is_scoped()) return facts;",
                             "if (!is_scoped() || {on}) return facts;"),
    "the list of invoices is not cut": (INVOICES, "!sees_invoice(principal_of(request), one.invoice);",
                                        "(!sees_invoice(principal_of(request), one.invoice) && !{on});"),
    "an invoice shows what all customers are charged": (
        INVOICES, "found->invoice.for_customer = !wants_books;",
        "found->invoice.for_customer = !wants_books && !{on};"),
    "the books are shown to anybody": (INVOICES, "if (wants_books && !sees_books(principal_of(request)))",
                                       "if (wants_books && !sees_books(principal_of(request)) && !{on})"),
    "any invoice is shown": (INVOICES, "if (!sees_invoice(principal_of(request), found->invoice)) {",
                             "if (!sees_invoice(principal_of(request), found->invoice) && !{on}) {"),
}
# The same of approvals, and the test that must fail: of the rules, of the book, or of the whole program.
APPROVAL, BOOK = "src/insight/guardrails/approval.cc", "src/server/approval_book/approval_book.cc"
ADMISSION = "src/insight/guardrails/admission.cc"
RULES_TEST = ("insight_guardrails_test", "--gtest_filter=Approval.*")
BOOK_TEST = ("server_approval_book_test",)
WHOLE_TEST = ("tests/cli/approvals.py",)
ADMISSION_TEST = ("tests/cli/admission.py",)
OWNER_TEST = ("insight_guardrails_test", "--gtest_filter=Approval.*:UsageLimit.*:ChargedScope.*:Rules.*")
CLUSTER_TEST = ("ingest_manifests_test", "--gtest_filter=ClusterObjects.*")
POLICIES, OWNERS = "src/app/daemon/review_policies.cc", "src/insight/guardrails/charged_scope.cc"
CLUSTER = "src/ingest/manifests/cluster_objects.cc"
APPROVAL_MUTANTS = {
    "own requests are approved": (
        APPROVAL, "if (is_same_person(wish.by, approval.request.by)) {",
        "if (!{on} && is_same_person(wish.by, approval.request.by)) {", RULES_TEST),
    "own requests are approved from the command line": (
        APPROVAL, "  return person_part(one) == person_part(other);",
        "  return {on} ? one == other : person_part(one) == person_part(other);", RULES_TEST),
    "one person counts twice": (
        APPROVAL, "if (!is_same_person(other.by, wish.by)) continue;",
        "if ({on} || !is_same_person(other.by, wish.by)) continue;", RULES_TEST),
    "one person suffices": (
        APPROVAL, "  if (!terms.two_persons_above) return 1;",
        "  if (!terms.two_persons_above || {on}) return 1;", RULES_TEST),
    "approvers have no limit": (
        APPROVAL, "  if (!approver) return std::unexpected(approver.error());\n  decision.on_behalf = *std::move(approver);",
        "  if (!approver && !{on}) return std::unexpected(approver.error());\n"
        "  decision.on_behalf = std::move(approver).value_or(\"\");", RULES_TEST),
    "delegates approve for who asked": (
        APPROVAL, "!is_approver(limit.who, approval.request.by)) return limit.who;",
        "({on} || !is_approver(limit.who, approval.request.by))) return limit.who;", RULES_TEST),
    "a delegate and the approver are two": (
        APPROVAL, "if (other.on_behalf.empty() || !is_approver(other.on_behalf, wish.by)) continue;",
        "if ({on} || other.on_behalf.empty() || !is_approver(other.on_behalf, wish.by)) continue;", RULES_TEST),
    "delegates decide on any day": (
        APPROVAL, "limit.delegate->from <= today &&\n         today <= limit.delegate->until;",
        "({on} ||\n         (limit.delegate->from <= today && today <= limit.delegate->until));", RULES_TEST),
    "approvals may hold for ever": (
        APPROVAL, "if (decision.until <= now || decision.until > latest) {",
        "if (!{on} && (decision.until <= now || decision.until > latest)) {", RULES_TEST),
    "what is decided is decided again": (
        APPROVAL, "if (state != ApprovalState::kPending && !takes_back) {",
        "if (!{on} && state != ApprovalState::kPending && !takes_back) {", RULES_TEST),
    "requests that nobody decided on hold": (
        APPROVAL, "if (state != ApprovalState::kApproved) return refuse_state(approval, state);",
        "if (!{on} && state != ApprovalState::kApproved) return refuse_state(approval, state);", RULES_TEST),
    "refused ones hold": (APPROVAL, "if (is_refused) return ApprovalState::kRefused;",
                          "if (is_refused && !{on}) return ApprovalState::kRefused;", RULES_TEST),
    "used ones hold": (APPROVAL, "if (is_used_up) return ApprovalState::kUsed;",
                       "if (is_used_up && !{on}) return ApprovalState::kUsed;", RULES_TEST),
    "ended ones hold": (APPROVAL, "return now >= *end_of(approval) ?",
                        "return !{on} && now >= *end_of(approval) ?", RULES_TEST),
    "the later end of two counts": (
        APPROVAL, "if (decision.approves && (!end || decision.until < *end)) end = decision.until;",
        "if (decision.approves && (!end || (decision.until < *end) != {on})) end = decision.until;", RULES_TEST),
    "digests of earlier versions hold": (
        APPROVAL, "if (is_of_earlier_version(approval.request) && !is_used_up) return ApprovalState::kExpired;",
        "if (!{on} && is_of_earlier_version(approval.request) && !is_used_up) return ApprovalState::kExpired;", RULES_TEST),
    "changed content is covered": (APPROVAL, "if (request.content != claim.content) {",
                                   "if (!{on} && request.content != claim.content) {", RULES_TEST),
    "other rules are covered": (
        APPROVAL, "if (std::ranges::find(request.rules, rule) != request.rules.end()) continue;\n    return fail(",
        "if ({on} || std::ranges::find(request.rules, rule) != request.rules.end()) continue;\n    return fail(", RULES_TEST),
    "any cost is covered": (APPROVAL, "  if (!request.cost) return {};\n  const bool is_covered",
                            "  if (!request.cost || {on}) return {};\n  const bool is_covered", RULES_TEST),
    "images are not in the digest": (
        APPROVAL, "for (const std::string& image : group.images) out.add(\"image\", image);",
        "for (const std::string& image : group.images) {\n    if (!{on}) out.add(\"image\", image);\n  }", RULES_TEST),
    "labels are not in the digest": (APPROVAL, "    out.add(\"value\", value);\n  }\n  out.add(\"lifetime\"",
                                     "    if (!{on}) out.add(\"value\", value);\n  }\n  out.add(\"lifetime\"", RULES_TEST),
    "any token is right": (BOOK, "if (!is_same_secret(token, right)) {",
                           "if (!{on} && !is_same_secret(token, right)) {", BOOK_TEST),
    "tokens do not depend on the request": (
        BOOK, "to_hex(hmac_sha256(key, request_members(request)))",
        "to_hex(hmac_sha256(key, {on} ? request.id : request_members(request)))", BOOK_TEST),
    "one person fills the book": (BOOK, "own >= kPendingPerPersonMax) {", "(!{on} && own >= kPendingPerPersonMax)) {", BOOK_TEST),
    "what the audit log refuses is done": (
        BOOK, "  TRY(record(\"approval.use\", subject_of(known->request), facts));",
        "  if (!{on}) {\n    TRY(record(\"approval.use\", subject_of(known->request), facts));\n  }", BOOK_TEST),
    "uses are not written": (BOOK, "  TRY(append(line));\n  const Approval* used",
                             "  if (!{on}) {\n    TRY(append(line));\n  }\n  const Approval* used", BOOK_TEST),
    "any link is right": (BOOK, "if (!is_same_secret(link, right)) return invalid();",
                          "if (!{on} && !is_same_secret(link, right)) return invalid();", BOOK_TEST),
    "links never end": (BOOK, "  if (now >= end) {", "  if (!{on} && now >= end) {", BOOK_TEST),
    "links are of any approver": (
        BOOK, "fmt::format(\"{} {} {}\", json_string(approver), until,",
        "fmt::format(\"{} {} {}\", {on} ? std::string() : json_string(approver), until,", BOOK_TEST),
    "links are of any request": (
        BOOK, "until, request_members(request));", "until, {on} ? std::string() : request_members(request));", BOOK_TEST),
    "links decide again": (
        APPROVAL, "if (!is_same_person(decision.by, approver)) continue;",
        "if ({on} || !is_same_person(decision.by, approver)) continue;", RULES_TEST),
    "links take approvals back": (
        APPROVAL, "state == ApprovalState::kApproved && !wish.is_by_link;",
        "state == ApprovalState::kApproved && ({on} || !wish.is_by_link);", RULES_TEST),
    "links of whoever was an approver decide": (
        APPROVAL, "if (terms.link_address.empty() || !is_listed) {",
        "if (!{on} && (terms.link_address.empty() || !is_listed)) {", RULES_TEST),
    "opening a link decides": (
        "src/server/api/approval_links.cc", "return {route(\"GET\", show_linked),",
        "return {route(\"GET\", {on} ? decide_linked : show_linked),", WHOLE_TEST),
    "a denial is lifted": (
        ADMISSION, "verdict.decision == Decision::kNeedsApproval && policy_.approvals != nullptr;",
        "(verdict.decision == Decision::kNeedsApproval || ({on} && verdict.decision == Decision::kDenied)) &&\n"
        "        policy_.approvals != nullptr;", WHOLE_TEST),
    "a dry run files a request": (ADMISSION, "    if (is_dry) return;\n", "    if (is_dry && !{on}) return;\n", WHOLE_TEST),
    "a dry run uses an approval up": (
        ADMISSION, "claim_of(workload, verdict, currency), by, is_dry);",
        "claim_of(workload, verdict, currency), by, is_dry && !{on});", WHOLE_TEST),
    # How the book is added to.
    "lines of others are not read": (
        BOOK, "if (is_read_ && state == state_) return {};", "if (is_read_ && ({on} || state == state_)) return {};", BOOK_TEST),
    "a book that was edited goes on": (
        BOOK, "now.starts_with(text_);", "({on} || now.starts_with(text_));", BOOK_TEST),
    "what a crash has left is lost": (
        BOOK, "if (!torn_.empty()) TRY(keep_torn_record(path_, torn_));",
        "if (!torn_.empty() && !{on}) TRY(keep_torn_record(path_, torn_));", BOOK_TEST),
    "what a crash has left is added to": (
        BOOK, "is_whole_records(text_) && torn_.empty()) {", "is_whole_records(text_) && ({on} || torn_.empty())) {", BOOK_TEST),
    "a line without its end is added to": (
        BOOK, "if (!text_.empty() && is_whole_records(text_) &&", "if (!text_.empty() && ({on} || is_whole_records(text_)) &&",
        BOOK_TEST),
    # Whose a workload is.
    "labels of the object decide whose it is": (
        OWNERS, ".labels = own ? *own : labels}});", ".labels = own && !{on} ? *own : labels}});", OWNER_TEST),
    "a label passes for a fact about a pod": (
        OWNERS, "if (work.is_slurm_job || !is_pod_fact(key))", "if ({on} || work.is_slurm_job || !is_pod_fact(key))", OWNER_TEST),
    "one group is whose all is": (
        APPROVAL, "for (const PlannedGroup& group : planned_groups(workload)) add(group.work);",
        "for (const PlannedGroup& group : planned_groups(workload)) {\n    if (!{on} || owners.empty()) add(group.work);\n  }",
        OWNER_TEST),
    "one of several owners is not charged": (
        OWNERS, "if (own == Charged::kYes) return own;", "if (own == Charged::kYes && !{on}) return own;", OWNER_TEST),
    "what is not known is charged to nobody": (
        OWNERS, "      charged = Charged::kUnknown;\n      continue;",
        "      if ({on}) return Charged::kNo;\n      charged = Charged::kUnknown;\n      continue;", OWNER_TEST),
    # What reviews are judged by.
    "reviews know no limits": (
        POLICIES, "policy.limits = *current.limits;", "if (!{on}) policy.limits = *current.limits;", ADMISSION_TEST),
    "reviews know no end of the month": (
        POLICIES, "if (!policy.limits.empty()) policy.month_left_ms", "if (!policy.limits.empty() && !{on}) policy.month_left_ms",
        ADMISSION_TEST),
    "reviews know no time": (
        POLICIES, "if (looks_at_hours_) policy.now", "if (looks_at_hours_ && !{on}) policy.now", ADMISSION_TEST),
    "reviews know no budgets": (
        POLICIES, "policy.budgets = current.budgets->uses;", "if (!{on}) policy.budgets = current.budgets->uses;", ADMISSION_TEST),
    "reviews know nobody's dimensions": (
        POLICIES, "policy.charging = &config_.policy;", "if (!{on}) policy.charging = &config_.policy;", ADMISSION_TEST),
    "reviews know no prices of today": (
        POLICIES, "policy.pricing.at = now;", "if (!{on}) policy.pricing.at = now;", ADMISSION_TEST),
    "reviews know nothing of the cluster": (
        "src/app/daemon/admission_service.cc", "policy.cluster = cluster.get();", "if (!{on}) policy.cluster = cluster.get();",
        ADMISSION_TEST),
    # What keeps pods apart.
    "an update may leave its runtime class": (
        ADMISSION, "if (!looks.isolation) group.isolation.reset();", "if ({on} || !looks.isolation) group.isolation.reset();",
        ("insight_guardrails_test", "--gtest_filter=Admission.*")),
    "volumes are not in the digest": (
        APPROVAL, "if (group.isolation) add_isolation(", "if (group.isolation && !{on}) add_isolation(", RULES_TEST),
    "policies of other namespaces hold": (
        CLUSTER, "policy.name_space != name_space) continue;", "(!{on} && policy.name_space != name_space)) continue;", CLUSTER_TEST),
    "a policy that lets everybody through limits": (
        CLUSTER, "if (policy.opens[index]) return false;", "if (policy.opens[index] && !{on}) return false;", CLUSTER_TEST),
    "files change the class of a claim": (
        CLUSTER, "  return cluster;\n}",
        "  if ({on}) {\n    for (const auto& [name, of] : files.storage_classes) cluster.storage_classes[name] = of;\n  }\n"
        "  return cluster;\n}", CLUSTER_TEST),
}
ALL = MUTANTS | APPROVAL_MUTANTS
AWAKE = """[] {{
  const char* const awake = std::getenv("PENNYWEIGHT_MUTANT");
  return awake != nullptr && std::string_view(awake) == "{name}";
}}()"""


def mutate(names, before):
    """Puts mutants into the sources, asleep, and the sources as they were into `before`. Returns whose
    line is gone."""
    gone = []
    for name in names:
        file, there, instead = ALL[name][:3]
        path = ROOT / file
        text = path.read_text()
        before.setdefault(path, text)
        if before[path].count(there) != 1:
            print(f"{name}: '{there}' occurs {before[path].count(there)} times in {file}")
            gone.append(name)
            continue
        path.write_text(text.replace(there, instead.replace("{on}", AWAKE.format(name=name))))
    for path in before:
        path.write_text("#include <cstdlib>\n#include <string_view>\n" + path.read_text())
    return gone


def build(folder, names):
    programs = {test_of(name)[0] for name in names if not test_of(name)[0].endswith(".py")}
    return subprocess.run(["cmake", "--build", folder, "--target", "pennyweight", *sorted(programs)],
                          capture_output=True, text=True)


def test_of(name):
    return ALL[name][3] if len(ALL[name]) > 3 else ("tests/api/test_authorisation.py",)


def passes(folder, test, name, cache):
    """Whether a test passes with this mutant awake; "": with all asleep."""
    program, *more = test
    command = ([sys.executable, ROOT / program, folder / "pennyweight", ROOT, cache] if program.endswith(".py")
               else [folder / program, *more])
    return subprocess.run(command, capture_output=True, text=True,
                          env=os.environ | {"PENNYWEIGHT_MUTANT": name}).returncode == 0


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0]).resolve()
    if not (folder / "build.ninja").exists():
        print(f"{folder} is not a build folder\n{__doc__}", file=sys.stderr)
        return 2
    names = arguments[1:] or list(ALL)
    if names[0] == "--of" and len(names) == 2 and names[1] in ("access", "approvals"):
        names = list(MUTANTS if names[1] == "access" else APPROVAL_MUTANTS)
    if unknown := set(names) - set(ALL):
        print(f"there is no mutant {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    before = {}
    try:
        gone = mutate(names, before)
        alive = [name for name in names if name in gone]
        built = build(folder, names)
        if built.returncode != 0:
            print(f"does not build\n{built.stdout[-4000:]}")
            return 1
        with tempfile.TemporaryDirectory() as cache:
            for test in sorted({test_of(name) for name in names}):
                if not passes(folder, test, "", cache):
                    print(f"{test[0]} must pass while all mutants are asleep")
                    return 1
            for name in names:
                if name in alive:
                    continue
                if passes(folder, test_of(name), name, cache):
                    alive.append(name)
                print(f"{name}: {'survives' if name in alive else 'found'} ({test_of(name)[0]})", flush=True)
    finally:
        for path, text in before.items():
            path.write_text(text)
        build(folder, names)
    print(f"{len(names) - len(alive)} of {len(names)} found")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
