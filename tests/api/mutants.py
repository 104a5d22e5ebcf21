#!/usr/bin/env python3
"""Removes one check of the program after another, and verifies that test_authorisation.py notices.

usage: mutants.py BUILD_FOLDER [NAME…]

Each mutant is one change to a line of the guard, the scoped queries or the invoices. The program is
built with it in BUILD_FOLDER, which takes minutes, so ctest does not run this: run it by hand after
a change of these files. The test must pass without any mutant first. The source is restored in any
case. Exits 1 if a mutant survives, or if the line that it changes no longer exists.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# name: (file, a text that occurs once, its replacement)
GUARD, PRINCIPAL = "src/server/api/guard.cc", "src/server/access/principal.cc"
QUERIES = "src/server/api/scoped_queries.cc"
INVOICES, TOKENS = "src/server/api/invoices.cc", "src/server/access/accounts_tokens.cc"
MUTANTS = {
    "every route is open": (GUARD, "if (route.open) return", "if (route.open || true) return"),
    "no CSRF token is required": (
        GUARD, "if (has_cookie && changes_something", "if (false && has_cookie && changes_something"),
    "one-time passwords allow everything": (
        GUARD, "!is_of_session(route.path)) {", "!is_of_session(route.path) && false) {"),
    "scoped users are denied nothing": (
        GUARD, "who.is_scoped() && is_denied_to_scoped", "false && is_denied_to_scoped"),
    "scoped users read bills": (
        GUARD, "      return true;\n    case Permission::kReadCosts:",
        "      return permission != Permission::kReadBills;\n    case Permission::kReadCosts:"),
    "roles may do everything": (PRINCIPAL, "return allows(who.role, permission);", "return true;"),
    "viewers read rules": (
        PRINCIPAL, "bool viewer_may(Permission permission) {",
        "bool viewer_may(Permission permission) {\n"
        "  if (permission == Permission::kReadRules) return true;"),
    "a token's limits do not count": (PRINCIPAL, "if (who.only && ", "if (false && who.only && "),
    "tokens need no fresh sign-in and name nothing": (
        GUARD, "if (needed && who.only && std::ranges::count(*who.only, *needed) > 0)",
        "if (needed)"),
    "tokens reset passwords": (
        "src/server/api/users.cc", "if (auto problem = refuse_token(request)) return",
        "if (auto problem = refuse_token(request); problem && false) return"),
    "tokens end sessions": (
        "src/server/api/sessions.cc",
        "if (auto problem = refuse_token(request)) return *std::move(problem);\n  const Principal& who = "
        "principal_of(request);\n  auto change = session_change(",
        "const Principal& who = principal_of(request);\n  auto change = session_change("),
    "sums are not cut": (
        QUERIES, "query.filters.insert(query.filters.end(), who_.scope.begin(), who_.scope.end());",
        "static_cast<void>(query);"),
    "explain is not cut": (QUERIES, "query.scope = who_.scope;\n  std::optional<ExplainResult>",
                           "std::optional<ExplainResult>"),
    "units are not cut": (QUERIES, "query.scope = who_.scope;\n  std::vector<Table>",
                          "std::vector<Table>"),
    "coverage is not cut": (QUERIES, "query.scope = who_.scope;\n  CoverageResult",
                            "CoverageResult"),
    "what runs now is not cut": (QUERIES, "view == nullptr || !is_scoped()) return view;",
                                 "view == nullptr || !is_scoped() || true) return view;"),
    "the fleet is not cut": (QUERIES, "if (!is_scoped()) return facts;",
                             "if (!is_scoped() || true) return facts;"),
    "the list of invoices is not cut": (INVOICES, "!sees_invoice(principal_of(request), one.invoice);",
                                        "(!sees_invoice(principal_of(request), one.invoice) && false);"),
    "an invoice shows what all customers are charged": (
        INVOICES, "found->invoice.for_customer = !wants_books;",
        "found->invoice.for_customer = principal_of(request).name.empty();"),
    "the books are shown to anybody": (INVOICES, "if (wants_books && !sees_books(principal_of(request)))",
                                       "if (wants_books && !sees_books(principal_of(request)) && false)"),
    "any invoice is shown": (INVOICES, "if (!sees_invoice(principal_of(request), found->invoice)) {",
                             "if (!sees_invoice(principal_of(request), found->invoice) && false) {"),
}


def build(folder):
    return subprocess.run(["cmake", "--build", folder, "--target", "pennyweight"],
                          capture_output=True, text=True)


def survives(folder):
    """Whether the test passes with the current program."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run([sys.executable, ROOT / "tests" / "api" / "test_authorisation.py",
                               folder / "pennyweight", ROOT, cache], capture_output=True, text=True)
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
    if build(folder).returncode != 0 or not survives(folder):
        print("the test must pass before any mutant is tried")
        return 1
    alive = []
    for name in names:
        file, there, instead = MUTANTS[name]
        path = ROOT / file
        text = path.read_text()
        if text.count(there) != 1:
            print(f"{name}: '{there}' occurs {text.count(there)} times in {file}")
            alive.append(name)
            continue
        try:
            path.write_text(text.replace(there, instead))
            built = build(folder)
            if built.returncode != 0:
                print(f"{name}: does not build\n{built.stdout[-2000:]}")
                alive.append(name)
            elif survives(folder):
                print(f"{name}: survives")
                alive.append(name)
            else:
                print(f"{name}: found")
        finally:
            path.write_text(text)
    build(folder)
    print(f"{len(names) - len(alive)} of {len(names)} found")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
