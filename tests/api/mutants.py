#!/usr/bin/env python3
"""Removes one check of the program after another, and verifies that test_authorisation.py notices.

usage: mutants.py BUILD_FOLDER [NAME…]

Each mutant is one change to a line of the guard, the scoped queries or the invoices. The program is
built once in BUILD_FOLDER with all of them, each asleep until PENNYWEIGHT_MUTANT names it, and then
tested with one after another. That still takes a minute for each, so ctest does not run this: run it by
hand after a change of these files. The test must pass while all are asleep. The sources are restored in
any case, and the program with them. Exits 1 if a mutant survives, or if the line that it changes no
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
AWAKE = """[] {{
  const char* const awake = std::getenv("PENNYWEIGHT_MUTANT");
  return awake != nullptr && std::string_view(awake) == "{name}";
}}()"""


def mutate(before):
    """Puts all mutants into the sources, asleep, and the sources as they were into `before`. Returns
    whose line is gone."""
    gone = []
    for name, (file, there, instead) in MUTANTS.items():
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


def build(folder):
    return subprocess.run(["cmake", "--build", folder, "--target", "pennyweight"],
                          capture_output=True, text=True)


def survives(folder, name, cache):
    """Whether the test passes with this mutant awake; "": with all asleep."""
    done = subprocess.run([sys.executable, ROOT / "tests" / "api" / "test_authorisation.py",
                           folder / "pennyweight", ROOT, cache], capture_output=True, text=True,
                          env=os.environ | {"PENNYWEIGHT_MUTANT": name})
    return done.returncode == 0


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0]).resolve()
    if not (folder / "build.ninja").exists():
        print(f"{folder} is not a build folder\n{__doc__}", file=sys.stderr)
        return 2
    names = arguments[1:] or list(MUTANTS)
    if unknown := set(names) - set(MUTANTS):
        print(f"there is no mutant {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    before = {}
    try:
        gone = mutate(before)
        alive = [name for name in names if name in gone]
        built = build(folder)
        if built.returncode != 0:
            print(f"does not build\n{built.stdout[-4000:]}")
            return 1
        with tempfile.TemporaryDirectory() as cache:
            if not survives(folder, "", cache):
                print("the test must pass while all mutants are asleep")
                return 1
            for name in names:
                if name in alive:
                    continue
                if survives(folder, name, cache):
                    alive.append(name)
                print(f"{name}: {'survives' if name in alive else 'found'}", flush=True)
    finally:
        for path, text in before.items():
            path.write_text(text)
        build(folder)
    print(f"{len(names) - len(alive)} of {len(names)} found")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
