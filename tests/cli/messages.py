"""Bad input and wrong usage: the exit code, and a message that names file, line and reason."""
import os

from harness import expect, expect_run, folder, import_all, report, run

SACCT = "JobID|Account|User|State|Start|End|AllocTRES\n"
JOB = "7|nlp|ana|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|cpu=1,gres/gpu=1,node=1\n"
NODES = "cluster,node,gpu_model,gpu_count,from\n"


def write(cwd, name, content):
    path = cwd / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def wrong_usage():
    cwd = folder()
    expect_run([], cwd, 2)
    expect_run(["imprt", "x"], cwd, 2, ["did you mean 'import'?"])
    expect_run(["report", "--format", "yaml"], cwd, 2)
    expect_run(["report", "--by", "taem"], cwd, 2, ["no dimension 'taem'", "did you mean 'team'?"])
    expect_run(["report", "--filter", "team"], cwd, 2, ["is not a filter"])
    expect_run(["user", "add", "ana", "--scope", "taem=nlp"], cwd, 2,
               ["--scope: there is no dimension 'taem'; did you mean 'team'?"])
    expect_run(["report", "--month", "March"], cwd, 2, ["'March' is not a month"])
    expect_run(["report", "--from", "2026-03-02", "--to", "2026-03-01"], cwd, 2, ["is before"])
    expect_run(["explain"], cwd, 2, ["--charge ID"])
    expect_run(["import"], cwd, 2, ["FILE"])
    expect_run(["report"], cwd, 1, ["there is no ledger"])
    expect_run(["forecast", "--today", "2026-04-01", "capacity"], cwd, 2,
               ["--today stands before 'capacity'", "'pennyweight forecast capacity --today …'"])
    expect_run(["forecast", "--by", "team", "capacity"], cwd, 2, ["--by is for forecasts of cost"])
    expect_run(["forecast", "capacity", "--whole"], cwd, 2, ["--whole is for forecasts of cost"])
    expect_run(["invoice", "--month", "2026-03", "clients"], cwd, 2, ["--month stands before 'clients'"])
    expect_run(["--version"], cwd, 0, ["pennyweight 0."])
    expect_run(["--config", "none.yaml", "doctor"], cwd, 2, ["none.yaml", "No such file"])
    write(cwd, "bad.yaml", "store:\n  pth: x\n")
    expect_run(["--config", "bad.yaml", "doctor"], cwd, 2, ["bad.yaml:2:3:", "did you mean 'path'?"])
    # Nobody waits for what was never there, and no server is asked.
    for option in ("password_file", "ca_file"):
        expect_run(["--store", f"clickhouse://u@127.0.0.1:9/p?tls=1&{option}=none", "report"], cwd,
                   2, ["cannot read none, which the ledger's address names"])
    write(cwd, "nodes-openb.csv", "sn,cpu_milli,memory_mib,gpu,model\nn1,1000,1024,1,T4\n")
    expect_run(["import", "nodes-openb.csv"], cwd, 2, ["--cluster NAME"])
    expect_run(["import", "--cluster", "c", "nodes-openb.csv"], cwd, 2, ["--from"])


def bad_files():
    cwd = folder()
    (cwd / "some").mkdir()
    write(cwd, "empty.csv", "")
    write(cwd, "blank.csv", "\n\n")
    write(cwd, "binary.csv", b"\x7fELF\0\1\2")
    write(cwd, "utf16.csv", "a,b".encode("utf-16"))
    write(cwd, "zipped.csv", b"\x1f\x8b\x08\0")
    write(cwd, "poem.txt", "Shall I compare thee\nto a summer's day?\n")
    write(cwd, "good.txt", SACCT + JOB)
    for name, reason in [("missing.csv", "No such file"), ("empty.csv", "is empty"),
                         ("blank.csv", "is empty"), ("binary.csv", "binary"),
                         ("utf16.csv", "UTF-16"), ("zipped.csv", "ends too early"),
                         ("poem.txt", "Shall I compare thee")]:
        # The good file beside it is taken in all the same.
        out, err = expect_run(["import", "--cluster", "c", name, "good.txt"], cwd, 1,
                              [name, reason, "1 of 2 files could not be imported"])
        expect("1 holding:" in out, f"good.txt beside {name}: {out}")
    expect_run(["import", "some"], cwd, 0, ["contains no files"])
    if os.geteuid() != 0:
        os.chmod(cwd / "good.txt", 0)
        expect_run(["import", "--cluster", "c", "good.txt"], cwd, 1, ["Permission denied"])


FOCUS = ("BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ChargeCategory,"
         "BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd\n")
MARCH = ",USD,Usage,2026-03-01,2026-04-01,2026-03-05,2026-03-06\n"


def bills_that_are_not_as_expected():
    """What people hand over in place of a bill is named, and what to do."""
    cwd = folder()
    for name, content, reasons in [
            ("semicolons.csv", FOCUS.replace(",", ";"), ["has ';' between its fields"]),
            ("tabs.csv", FOCUS.replace(",", "\t"), ["has tabs between its fields"]),
            ("sheet.xlsx", b"PK\x03\x04\0\0", ["a ZIP archive or a spreadsheet"]),
            ("sep.csv", "sep=,\n" + FOCUS, ["remove the first line"]),
            ("denied.csv", "<html>AccessDenied</html>", ["fetch it again"]),
            ("list.json", '[\n {"billing_account_id": "a", "usage_start_time": "b"}]',
             ["write a line for each row"])]:
        write(cwd, name, content)
        expect_run(["import", name], cwd, 1, [name, *reasons])

    # A row that can't be read stays aside and is named. A later delivery with one is refused, since
    # it would take away what the row says.
    write(cwd, "march.csv", FOCUS + "1,1,1,1" + MARCH + "n/a,1,1,1" + MARCH)
    expect_run(["import", "march.csv"], cwd, 1,
               ["set aside: 1 row; 1 row whose cost is not readable", "the equation is open",
                "march.csv:3: BilledCost: 'n/a'"])
    expect_run(["import", "march.csv"], cwd, 1,
               ["1 row could not be read", "march.csv:3: BilledCost: 'n/a'", "--allow-aside"])
    expect_run(["import", "--allow-aside", "march.csv"], cwd, 0, ["set aside: 1 row"])

    # A folder of an export holds more than its files.
    (cwd / "export").mkdir()
    write(cwd, "export/part-1.csv", FOCUS + "1,1,1,1" + MARCH)
    write(cwd, "export/part-2.csv", FOCUS.lower() + "2,2,2,2" + MARCH.replace("-06", "-07"))
    for name in ["march-Manifest.json", "manifest.json", "_SUCCESS", "part-1.csv.metadata.json"]:
        write(cwd, f"export/{name}", '{"a": 1}')
    expect_run(["import", "--delivery", "replacement", "export"], cwd, 0,
               ["2 bill lines: 1 new, 1 already there", "1.00 USD → 3.00 USD billed",
                "march-Manifest.json is skipped"])

    # Lines that are alike in two parts of one command count each.
    write(cwd, "part-a.csv", FOCUS + "4,4,4,4" + MARCH + "5,5,5,5" + MARCH.replace("-06", "-07"))
    write(cwd, "part-b.csv", FOCUS + "4,4,4,4" + MARCH + "6,6,6,6" + MARCH.replace("-06", "-08"))
    parts = ["part-a.csv", "part-b.csv"]
    expect_run(["--store", "parts.duckdb", "import", *parts], cwd, 0, ["4 bill lines: 4 new"])
    expect_run(["--store", "parts.duckdb", "import", *parts], cwd, 0, ["0 new, 4 already there"])
    # One by one and guarded, nobody can know whether the lines are the same.
    expect_run(["--store", "one.duckdb", "import", "--delivery", "guarded", *parts], cwd, 0,
               ["part-b.csv: 1 bill line in the ledger already", "--delivery replacement"])


def bad_rows():
    """Each bad row is named with file, line and reason; the good row beside it is in."""
    for name, row in {
        "truncated.txt": "8|nlp|ana\n",
        "encoding.txt": b"8|nlp|\xff\xfe|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|gres/gpu=1\n",
        "type.txt": "8|nlp|ana|COMPLETED|soon|2026-03-01T01:00:00|gres/gpu=1\n",
        "range.txt": "8|nlp|ana|COMPLETED|2026-03-01T00:00:00|2026-13-41T01:00:00|gres/gpu=1\n",
        "negative.txt": "8|nlp|ana|COMPLETED|2026-03-02T00:00:00|2026-03-01T00:00:00|gres/gpu=1\n",
        "future.txt": "8|nlp|ana|COMPLETED|2198-03-02T00:00:00|2198-03-03T00:00:00|gres/gpu=1\n",
        "long.txt": "8|" + "x" * (10 << 20) + "|ana|COMPLETED|||\n",
    }.items():
        cwd = folder()
        content = SACCT.encode() + (row if isinstance(row, bytes) else row.encode()) + JOB.encode()
        write(cwd, name, content)
        out, err = expect_run(["import", "--cluster", "c", name], cwd, 0, [f"{name}:2"])
        expect("1 holding: 1 new" in out, f"{name}: the good row is not in: {out}")
        expect_run(["import", "--strict", "--cluster", "c", name], cwd, 1, ["--strict"])
    cwd = folder()
    write(cwd, "crlf.csv", "\ufeff" + (NODES + 'c,"n1",T4,8,2026-03-01\n').replace("\n", "\r\n"))
    expect_run(["import", "crlf.csv"], cwd, 0, ["1 node: 1 new"])
    write(cwd, "unknown.csv", "cluster,node,from,colour\nc,n1,2026-03-01,red\n")
    expect_run(["import", "unknown.csv"], cwd, 1, ["unknown.csv", "colour"])
    write(cwd, "missing.txt", "JobID|Account\n7|nlp\n")
    expect_run(["import", "--cluster", "c", "missing.txt"], cwd, 1, ["missing.txt", "there is no Start"])


def conflicts():
    cwd = folder()
    write(cwd, "one.csv", NODES + "c,n1,T4,8,2026-03-01\n")
    write(cwd, "two.csv", NODES + "c,n1,T4,4,2026-03-01\nc,n2,T4,4,2026-03-01\n")
    expect_run(["import", "one.csv"], cwd)
    out, err = expect_run(["import", "two.csv"], cwd, 1, ["two.csv:2", "8", "4", "set aside"])
    expect("1 new" in out and "1 in conflict" in out, out)


def before_and_after():
    cwd = folder()
    expect_run(["import", "--cluster", "lab", "jobs.txt"], cwd)
    expect_run(["reconcile"], cwd, 1, ["no bill lines yet"])
    expect_run(["allocate"], cwd, 1, ["no bill lines yet"])
    expect_run(["doctor"], cwd, 1, ["holdings, but no nodes", "import its inventory"])
    import_all(cwd)
    expect_run(["report"], cwd, 1, ["run 'pennyweight allocate' first"])
    expect_run(["reconcile"], cwd, 1, ["never allocated"])
    expect_run(["doctor"], cwd, 1, ["never allocated"])
    expect_run(["allocate", "--month", "2020-01"], cwd, 1, ["2026-03"])
    expect_run(["allocate"], cwd)
    expect_run(["reconcile"], cwd, 0, ["0 off"])
    expect_run(["doctor"], cwd, 0)
    expect_run(["explain", "--key", "nobody"], cwd, 1, ["no posting has team = 'nobody'"])
    expect_run(["explain", "--charge", "0" * 32], cwd, 1, ["there is no bill line"])
    expect_run(["explain", "--charge", "12"], cwd, 2, ["32 hexadecimal digits"])
    expect_run(["report", "--filter", "team=nobody"], cwd, 0, ["no posting matches"])
    code, out, err = run(["report", "--by", "team"], cwd)
    expect("\x1b" not in out + err, "colours where nobody looks at them")
    code, out, err = run(["--color", "always", "report", "--by", "team"], cwd)
    expect("\x1b[1m" in out, "no colours with --color always")
    with open("/dev/full", "wb") as full:
        import subprocess
        from harness import BINARY
        done = subprocess.run([BINARY, "report"], cwd=cwd, stdout=full, stderr=subprocess.PIPE)
        expect(done.returncode == 1 and b"standard output" in done.stderr, "a full disk goes unnoticed")


wrong_usage()
bad_files()
bills_that_are_not_as_expected()
bad_rows()
conflicts()
before_and_after()
report("cli/messages")
