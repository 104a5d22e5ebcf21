"""docs/methods/README.md and tests/cases stay together: every case stands in the index, every name in
the index is a case, and every page that it links is there.

index_test.py ROOT
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
pages = root / "docs" / "methods"
index = (pages / "README.md").read_text(encoding="utf-8")
cases = {path.stem for path in (root / "tests" / "cases").glob("*.case")}
rows = [line for line in index.splitlines() if line.startswith("|")]
named = set(re.findall(r"`([a-z0-9_]+)`", "\n".join(row.rsplit("|", 2)[1] for row in rows)))
linked = set(re.findall(r"\]\(([a-z0-9-]+\.md)\)", index))
problems = [f"tests/cases/{name}.case is in no row of docs/methods/README.md"
            for name in sorted(cases - named)]
problems += [f"docs/methods/README.md names a case {name}, which is not in tests/cases"
             for name in sorted(named - cases)]
problems += [f"docs/methods/README.md links {name}, which is not there"
             for name in sorted(linked) if not (pages / name).exists()]
problems += [f"docs/methods/{path.name} is not linked from README.md"
             for path in sorted(pages.glob("*.md")) if path.name not in linked | {"README.md"}]
print("\n".join(problems) or f"{len(cases)} cases, {len(linked)} pages: all in the index")
sys.exit(bool(problems))
