#!/usr/bin/env python3
"""Takes one check out of the program after another, and sees test_authorisation.py find it.

usage: mutants.py BUILD_FOLDER [NAME…]

Each mutant is one change to a line of the guard, the desk or the invoices. The program is built with
it in BUILD_FOLDER, which takes minutes, so ctest does not run this: do it by hand after the guard or
the desk has changed. The test has to pass first without any change. The source is put back as it
was, whatever happens. Exits 1 where a mutant lives, or where the line that it changes is not there
any more.
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# name: (file, what stands there once, what is put in its place)
GUARD, DESK, PRINCIPAL = "src/api/guard.cc", "src/api/desk.cc", "src/access/principal.cc"
INVOICES, TOKENS = "src/api/invoices.cc", "src/access/accounts_tokens.cc"
MUTANTS = {
    "every route is open": (GUARD, "if (route.open) return", "if (route.open || true) return"),
    "no CSRF token is asked for": (
        GUARD, "if (has_cookie && changes_something", "if (false && has_cookie && changes_something"),
    "one-time passwords do everything": (
        GUARD, "!is_of_session(route.path)) {", "!is_of_session(route.path) && false) {"),
    "scopes are refused nothing": (
        GUARD, "who.is_scoped() && is_refused_to_scoped", "false && is_refused_to_scoped"),
    "books are not refused to scopes": (
        GUARD, "      return true;\n    case Permission::kReadCosts:",
        "      return permission != Permission::kReadBills;\n    case Permission::kReadCosts:"),
    "roles may do everything": (PRINCIPAL, "return allows(who.role, permission);", "return true;"),
    "viewers read rules": (
        PRINCIPAL, "bool viewer_may(Permission permission) {",
        "bool viewer_may(Permission permission) {\n"
        "  if (permission == Permission::kReadRules) return true;"),
    "a token's limits do not count": (PRINCIPAL, "if (who.only && ", "if (false && who.only && "),
    "sums are not cut": (
        DESK, "query.filters.insert(query.filters.end(), who_.scope.begin(), who_.scope.end());",
        "static_cast<void>(query);"),
    "explain is not cut": (DESK, "question.scope = who_.scope;\n  std::optional<ExplainAnswer>",
                           "std::optional<ExplainAnswer>"),
    "units are not cut": (DESK, "question.scope = who_.scope;\n  std::vector<Table>",
                          "std::vector<Table>"),
    "coverage is not cut": (DESK, "question.scope = who_.scope;\n  CoverageAnswer",
                            "CoverageAnswer"),
    "what runs now is not cut": (DESK, "view == nullptr || !is_scoped()) return view;",
                                 "view == nullptr || !is_scoped() || true) return view;"),
    "the fleet is not cut": (DESK, "if (!is_scoped()) return facts;",
                             "if (!is_scoped() || true) return facts;"),
    "the list of invoices is not cut": (INVOICES, "!sees_invoice(asker(request), one.invoice);",
                                        "(!sees_invoice(asker(request), one.invoice) && false);"),
    "an invoice tells what all are charged": (
        INVOICES, "found->invoice.for_customer = asker(request).is_scoped();",
        "found->invoice.for_customer = asker(request).name.empty();"),
    "any invoice is shown": (INVOICES, "if (!sees_invoice(asker(request), found->invoice)) {",
                             "if (!sees_invoice(asker(request), found->invoice) && false) {"),
}


def build(folder):
    return subprocess.run(["cmake", "--build", folder, "--target", "pennyweight"],
                          capture_output=True, text=True)


def survives(folder):
    """Whether the test passes with the program as it is now."""
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
        print(f"{folder} is no build folder\n{__doc__}", file=sys.stderr)
        return 2
    names = arguments[1:] or list(MUTANTS)
    if build(folder).returncode != 0 or not survives(folder):
        print("the test has to pass before anything is changed")
        return 1
    alive = []
    for name in names:
        file, there, instead = MUTANTS[name]
        path = ROOT / file
        text = path.read_text()
        if text.count(there) != 1:
            print(f"{name}: '{there}' stands {text.count(there)} times in {file}")
            alive.append(name)
            continue
        try:
            path.write_text(text.replace(there, instead))
            built = build(folder)
            if built.returncode != 0:
                print(f"{name}: does not build\n{built.stdout[-2000:]}")
                alive.append(name)
            elif survives(folder):
                print(f"{name}: lives")
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
