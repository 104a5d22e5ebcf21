#!/usr/bin/env python3
"""Proves each rule of tools/tidy.py with a file that breaks it. Runs as the test `tidy_self_test`.

usage: tidy_test.py
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDY = pathlib.Path(__file__).resolve().parent.parent / "tools" / "tidy.py"
MODULES = """core: :
core/gpu: :
ingest/csv: : core
ingest/focus: ingest/csv:
app/cli: :
app/daemon: :
testing/bills: ingest/csv:
"""
HEADER = "// What it is.\n#pragma once\n"


class Tree:
    """A small source tree without findings, until a test adds to it."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        self.write("modules.txt", MODULES)
        self.write("src/core/money.h", HEADER)
        self.write("src/core/money.cc", '#include "core/money.h"\n')
        self.write("src/ingest/csv/reader.h", HEADER)
        self.write("src/ingest/csv/reader.cc", '#include "ingest/csv/reader.h"\n')
        self.write("src/ingest/csv/reader_test.cc", '#include "core/money.h"\n')
        self.write("src/ingest/focus/focus.cc", '#include "ingest/csv/reader.h"\n')
        self.write("testing/bills/bill.h", HEADER)
        self.write("testing/bills/bill.cc",
                   '#include "testing/bills/bill.h"\n#include "ingest/csv/reader.h"\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")

    def tidy(self):
        run = subprocess.run([sys.executable, TIDY, self.root, self.root / "modules.txt"],
                             capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Tree(folder.name)

    def assert_clean(self):
        status, output = self.tree.tidy()
        self.assertEqual((status, output.count("error:")), (0, 0), output)

    def assert_refused(self, *words):
        """Asserts exactly one finding, which contains all of `words`."""
        status, output = self.tree.tidy()
        self.assertEqual((status, output.count("error:")), (1, 1), output)
        for word in words:
            self.assertIn(word, output)

    def test_a_good_tree_passes(self):
        self.assert_clean()

    def test_an_include_without_a_dependency_names_both_modules(self):
        self.tree.write("src/core/bad.cc", '#include "ingest/csv/reader.h"\n')
        self.assert_refused("src/core/bad.cc:1:", "core may not include ingest/csv")

    def test_only_tests_may_use_dependencies_of_tests(self):
        self.tree.write("src/ingest/csv/reader_fuzz.cc", '#include "core/money.h"\n')
        self.tree.write("src/ingest/csv/table_testing.h", HEADER + '#include "core/money.h"\n')
        self.tree.write("src/ingest/csv/table_test.cc", '#include "ingest/csv/table_testing.h"\n')
        self.assert_clean()
        self.tree.write("src/ingest/csv/bad.cc", '#include "core/money.h"\n')
        self.assert_refused("src/ingest/csv/bad.cc:1:", "ingest/csv may include core in its tests only")

    def test_a_dependency_that_nothing_uses(self):
        self.tree.write("src/ingest/focus/focus.cc", "\n")
        self.assert_refused("CMakeLists.txt:1:", "module ingest/focus", "ingest/csv", "remove it")

    def test_a_dependency_that_only_tests_use(self):
        self.tree.write("src/ingest/focus/focus.cc", '#include "ingest/focus/focus.h"\n')
        self.tree.write("src/ingest/focus/focus.h", HEADER)
        self.tree.write("src/ingest/focus/focus_test.cc", '#include "ingest/csv/reader.h"\n')
        self.assert_refused("CMakeLists.txt:1:", "module ingest/focus", "TEST_DEPS")

    def test_a_module_of_tests_alone_uses_its_dependencies_in_them(self):
        (self.tree.root / "testing/bills/bill.cc").unlink()
        (self.tree.root / "testing/bills/bill.h").unlink()
        self.tree.write("testing/bills/bill_test.cc", '#include "ingest/csv/reader.h"\n')
        self.assert_clean()

    def test_a_dependency_of_tests_that_nothing_uses(self):
        self.tree.write("src/ingest/csv/reader_test.cc", "\n")
        self.assert_refused("CMakeLists.txt:1:", "module ingest/csv", "core", "of its tests")

    def test_the_product_includes_nothing_of_testing(self):
        self.tree.write("src/core/bad.cc", '#include "testing/bills/bill.h"\n')
        self.assert_refused("src/core/bad.cc:1:", "core may not include testing/bills")

    def test_an_include_belongs_to_the_longest_module(self):
        self.tree.write("src/ingest/csv/back.cc", '#include "ingest/focus/x.h"\n')
        self.assert_refused("ingest/csv may not include ingest/focus")

    def test_an_include_of_no_module(self):
        self.tree.write("src/core/bad.cc", '#include "money.h"\n')
        self.assert_refused('"money.h" is in no module')

    def test_an_undeclared_folder(self):
        self.tree.write("src/common/util.cc", "\n")
        self.assert_refused("src/common/util.cc", "'common' is not a module")

    def test_a_file_beside_the_formats_is_in_no_module(self):
        self.tree.write("src/ingest/shared.cc", "\n")
        self.assert_refused("'ingest' is not a module")

    def test_a_file_that_nothing_builds(self):
        self.tree.write("src/core/old.cpp", "\n")
        self.assert_refused("src/core/old.cpp", "nothing builds this")

    def test_a_header_that_nothing_includes(self):
        self.tree.write("src/core/orphan.h", HEADER)
        self.assert_refused("src/core/orphan.h", "nothing includes this header")
        self.tree.write("bench/load.cc", '#include "core/orphan.h"\n')
        self.assert_clean()

    def test_a_header_without_pragma_once(self):
        self.tree.write("src/core/money.h", "// What it is.\n")
        self.assert_refused("src/core/money.h:1:", "#pragma once")

    def test_a_header_without_an_opening_comment(self):
        self.tree.write("src/core/money.h", "#pragma once\n")
        self.assert_refused("src/core/money.h:1:", "does not say what it is")

    def test_a_header_that_opens_a_namespace(self):
        self.tree.write("src/core/money.h", HEADER + "using namespace pennyweight;\n")
        self.assert_refused("src/core/money.h:1:", "must not open a namespace")

    def test_columns_and_ends_of_lines(self):
        self.tree.write("src/core/long.cc", "// " + "x" * 97 + "\n")
        self.assert_clean()
        self.tree.write("src/core/long.cc", "\n// " + "x" * 98 + "\n")
        self.assert_refused("src/core/long.cc:2:", "100 columns")
        self.tree.write("src/core/long.cc", "int x; \n")
        self.assert_refused("end of the line")
        self.tree.write("src/core/long.cc", "int x;\r\n")
        self.assert_refused("end of the line")

    def test_bans_name_what_to_use_instead(self):
        for code, instead in [
            ("auto t = std::chrono::system_clock::now();", "take a Clock&"),
            ("auto t = std::chrono::steady_clock::now();", "take a Clock&"),
            ("auto t = time(nullptr);", "take a Clock&"),
            ("double price;", "core/money.h"),
            ("void f(float x);", "core/money.h"),
            ('auto p = std::stod("1");', "core/decimal.h"),
            ("auto p = strtod(s, &end);", "core/decimal.h"),
            ("auto p = atof(s);", "core/decimal.h"),
            ("std::random_device seed;", "seeded"),
            ("int x = rand();", "seeded"),
            ("using namespace std;", "name what you use"),
            ("std::cout << 1;", "only app speaks to the terminal"),
            ('printf("%d", 1);', "only app speaks to the terminal"),
            ('fmt::print("x");', "only app speaks to the terminal"),
            ('auto e = std::getenv("HOME");', "environment"),
            ("auto* p = new Thing(1);", "std::make_unique"),
            ("delete p;", "std::make_unique"),
            ("delete[] p;", "std::make_unique"),
            ("assert(x > 0);", "CHECK(condition"),
            ("int* p = NULL;", "nullptr"),
            # Split, so that this file has no such mark itself.
            ("int x;  // TO" "DO: finish", "unfinished"),
            ("int x;  /* FIX" "ME */", "unfinished"),
            ("int x;  // X" "XX", "unfinished"),
        ]:
            with self.subTest(code=code):
                self.tree.write("src/core/bad.cc", "\n" + code + "\n")
                self.assert_refused("src/core/bad.cc:2:", instead)

    def test_a_ban_does_not_see_comments_or_texts(self):
        self.tree.write("src/core/good.cc", "\n".join([
            "// A double would lose a cent; see time(nullptr).",
            "/* a float",
            "   over two lines: double */",
            'const char* kText = "a double \\" new Thing";',
            'const char* kRaw = R"(double',
            "float in a raw text",
            ')";',
            "Thing(const Thing&) = delete;",
            "static_assert(sizeof(int) == 4);",
            "int operand(int brand);",
            "renew(x);",
        ]) + "\n")
        self.assert_clean()

    def test_a_ban_ends_where_the_rule_says(self):
        self.tree.write("src/app/cli/main.cc", 'int main() { std::cout << std::getenv("HOME"); }\n')
        self.tree.write("src/ingest/csv/good.cc", "double seconds;\n")
        self.tree.write("src/core/money_test.cc", 'auto seed = std::getenv("SEED");\n')
        self.assert_clean()
        # One file of a module may, the module may not.
        self.tree.write("src/app/daemon/live_source.cc", "double value;\n")
        self.assert_clean()
        self.tree.write("src/app/daemon/live_sources.cc", "double value;\n")
        self.assert_refused("src/app/daemon/live_sources.cc:1:", "core/quantity.h")
        self.tree.write("src/app/daemon/live_sources.cc", "\n")
        self.tree.write("src/core/money_test.cc", "double seconds;\n")
        self.assert_refused("src/core/money_test.cc:1:", "core/quantity.h")
        self.tree.write("src/core/money_test.cc", "\n")
        self.tree.write("src/core/gpu/bad.cc", "double seconds;\n")
        self.assert_refused("src/core/gpu/bad.cc:1:", "core/quantity.h")


if __name__ == "__main__":
    unittest.main()
