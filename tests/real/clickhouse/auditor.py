"""The auditor of the fault test: is what a reader sees one of the states that the log allows?

It reads the tables themselves, at one server after the other, while programs write and servers die,
and holds every reading against all that was seen and acknowledged before it began:

* the log of commits only grows, without gaps, and no session is in it twice;
* an import that is in it has as many rows as its record says, a run as many postings: whole, or not
  there; and neither ever changes, on whichever server it is read;
* what was acknowledged to a program is in it, once; what was refused never is;
* a file counts once, however often and by however many it was imported;
* a report and a reconciliation say what the log says between the reading before and that after.
"""
import collections
import csv
import dataclasses
import decimal
import io
import json
import re
import threading
import urllib.parse

from harness import post

decimal.getcontext().prec = 80
Decimal = decimal.Decimal
FACTS = ("charges", "holdings", "nodes", "usages")
ROWS = {
    "charges": "cityHash64(charge_id, source_line, booked_month, toString(billed_cost), "
               "toString(effective_cost))",
    "holdings": "cityHash64(holding_id, source_line)",
    "nodes": "cityHash64(node_id, source_line)",
    "usages": "cityHash64(usage_id, source_line)",
    "run_dimensions": "cityHash64(workload, dimension, value)",
    "postings": "cityHash64(charge_id, posted_from, posted_to, node, gpu, workload, "
                "toString(billed_cost), toString(effective_cost), toString(gpu_time))"}
SUMMED = {"charges": "billed_cost", "postings": "billed_cost"}
COUNTED = re.compile(r"(\d[\d,]*) bill lines?, (\d[\d,]*) exact, (\d[\d,]*) off, "
                     r"(\d[\d,]*) of them never allocated")


@dataclasses.dataclass
class Attempt:
    """One program that was to import one file, under a name that no other attempt has."""
    name: str
    delivery: object
    outcome: str = "runs"  # then: acknowledged, refused, doubtful


class Refused(Exception):
    """A server did not answer, or said that it can't: no reading, and no harm."""


@dataclasses.dataclass
class Log:
    entries: tuple  # (position, turn, session, what), in order

    def __len__(self):
        return len(self.entries)


class Auditor:
    """Of one ledger. `wrong(text)` gets every violation. Used by several threads."""

    def __init__(self, database, on_cluster, wrong):
        self._database = database
        self._settings = {"select_sequential_consistency": 1} if on_cluster else {}
        self._wrong = wrong
        self._lock = threading.Lock()
        self.log = Log(())
        self._seen = {}      # (table, session): what was first seen of its rows
        self._imports = {}   # session: its record
        self._runs = {}
        self.attempts = {}   # by name
        self.readings = collections.Counter()

    # -- what programs were answered ------------------------------------------------------------

    def begins(self, name, delivery):
        with self._lock:
            self.attempts[name] = Attempt(name, delivery)

    def record_answer(self, name, outcome):
        with self._lock:
            self.attempts[name].outcome = outcome

    # -- readings of the tables -----------------------------------------------------------------

    def ask(self, server, sql, patience=6):
        status, text = post(server.url + "?" + urllib.parse.urlencode(self._settings),
                            sql.encode(), patience=patience)
        if status != 200:
            raise Refused(f"{server.name}: {status} {text[:200]}")
        # An answer that broke off in its midst ends with the server's words.
        if "DB::Exception" in text:
            raise Refused(f"{server.name}: {text[-200:]}")
        return [line.split("\t") for line in text.splitlines()]

    def read_log(self, server):
        """What counts; it has all that any earlier reading had."""
        with self._lock:
            before = self.log
        rows = self.ask(server, "SELECT position, turn, session, what FROM "
                                f"{self._database}.log WHERE kind = 'sealed' ORDER BY position")
        entries, wrongs = [], []
        for position, turn, session, what in rows:
            entry = (int(position), int(turn), session, what)
            if entries and entry == entries[-1]:
                continue  # a row that was sent twice
            if entry[0] != len(entries) + 1:
                wrongs.append(f"the log has no position {len(entries) + 1}, or two: {entry}")
                break
            entries.append(entry)
        sessions = collections.Counter(entry[2] for entry in entries)
        wrongs += [f"session {session} is committed {times} times"
                   for session, times in sessions.items() if times > 1]
        if tuple(entries[:len(before)]) != before.entries:
            wrongs.append(f"the log lost or changed what it had: {len(before)} entries, now "
                          f"{len(entries)}")
        for text in wrongs:
            self._wrong(f"{server.name}: {text}")
        log = Log(tuple(entries))
        with self._lock:
            if not wrongs and len(log) > len(self.log):
                self.log = log
        return log

    def read(self, server):
        """One reading of everything at one server; Refused where it can't be had."""
        with self._lock:
            promised = {name for name, attempt in self.attempts.items()
                        if attempt.outcome == "acknowledged"}
        log = self.read_log(server)
        sessions = {what: [entry[2] for entry in log.entries if entry[3] == what]
                    for what in ("import", "run")}
        imports = self._records(server, "imports", sessions["import"],
                                ("name", *FACTS, "rejected", "removed", "reversed"))
        runs = self._records(server, "runs", sessions["run"],
                             ("cluster", "month", "postings", "hex(postings_digest)"))
        held = {table: self._rows(server, table, sessions["import"]) for table in FACTS}
        held |= {table: self._rows(server, table, sessions["run"])
                 for table in ("postings", "run_dimensions")}
        wrongs = [f"{what} {session} is in the log, its record is not there"
                  for what, records in (("import", imports), ("run", runs))
                  for session in sessions[what] if session not in records]
        for session, record in imports.items():
            for table in FACTS:
                want = int(record[table]) + (int(record["reversed"]) if table == "charges" else 0)
                got = held[table].get(session, (0,))[0]
                if got != want:
                    wrongs.append(f"import {record['name']} says {want} {table}, there are {got}")
        for session, record in runs.items():
            got = held["postings"].get(session, (0,))[0]
            if got != int(record["postings"]):
                wrongs.append(f"the run of {record['cluster']} {record['month']} in session "
                              f"{session} says {record['postings']} postings, there are {got}")
        wrongs += self._stay(held, imports, runs, sessions)
        wrongs += self._promises(imports, promised)
        wrongs += self._lines(server, log, imports)
        for text in wrongs:
            self._wrong(f"{server.name}: {text}")
        self.readings["tables"] += 1
        return log

    def _records(self, server, table, sessions, columns):
        if not sessions:
            return {}
        found = {}
        for row in self.ask(server, f"SELECT session, {', '.join(columns)} FROM "
                                    f"{self._database}.{table} WHERE session IN "
                                    f"({', '.join(sessions)})"):
            record = dict(zip(columns, row[1:]))
            if row[0] in found:
                self._wrong(f"{server.name}: {table} has session {row[0]} twice")
            found[row[0]] = record
        return found

    def _rows(self, server, table, sessions, local=False):
        """By session: how many rows, a sum of hashes of them, a sum of money."""
        if not sessions:
            return {}
        amount = f"toString(sum({SUMMED[table]}))" if table in SUMMED else "'0'"
        name = table + ("_local" if local else "")
        return {session: (int(count), digest, money) for session, count, digest, money in self.ask(
            server, f"SELECT session, count(), sum({ROWS[table]}), {amount} FROM "
                    f"{self._database}.{name} WHERE session IN ({', '.join(sessions)}) "
                    "GROUP BY session")}

    def _stay(self, held, imports, runs, sessions):
        """What was seen once is seen the same for ever."""
        wrongs = []
        now = {("imports", session): tuple(record.values()) for session, record in imports.items()}
        now |= {("runs", session): tuple(record.values()) for session, record in runs.items()}
        for table, rows in held.items():
            of = sessions["import" if table in FACTS else "run"]
            now |= {(table, session): rows.get(session, (0, "0", "0")) for session in of}
        with self._lock:
            for key, value in now.items():
                before = self._seen.setdefault(key, value)
                if before != value:
                    wrongs.append(f"{key[0]} of session {key[1]} were {before}, are {value}")
            self._imports.update(imports)
            self._runs.update(runs)
        return wrongs

    def _promises(self, imports, promised):
        """Attempts whose answer was known before the reading began, beside their entries; and no
        row of a file counts twice."""
        wrongs = []
        by_name = collections.Counter(record["name"] for record in imports.values())
        for name in promised:
            if by_name[name] != 1:
                wrongs.append(f"{name} was acknowledged, and is there {by_name[name]} times")
        created = collections.Counter()
        with self._lock:
            attempts = dict(self.attempts)
        for record in imports.values():
            attempt = attempts.get(record["name"])
            if attempt is None:
                wrongs.append(f"nobody imported {record['name']}")
                continue
            if attempt.outcome == "refused":
                wrongs.append(f"{record['name']} was refused, and is there")
            created[attempt.delivery.name] += int(record[attempt.delivery.table])
        deliveries = {attempts[record["name"]].delivery.name: attempts[record["name"]].delivery
                      for record in imports.values() if record["name"] in attempts}
        for name, delivery in deliveries.items():
            if not delivery.replaces and created[name] != delivery.rows:
                wrongs.append(f"{name} has {delivery.rows} {delivery.table}, of which "
                              f"{created[name]} are there")
        return wrongs

    def _lines(self, server, log, imports):
        """The lines of each account are those of the delivery that came last."""
        with self._lock:
            attempts = dict(self.attempts)
        last = {}
        for _, _, session, what in log.entries:
            attempt = attempts.get(imports.get(session, {}).get("name")) if what == "import" else 0
            if attempt and attempt.delivery.account:
                last[attempt.delivery.account] = attempt.delivery.rows
        if not last:
            return []
        visible = ", ".join(entry[2] for entry in log.entries if entry[3] == "import")
        rows = self.ask(server, (
            "SELECT billing_account_id, count() FROM {0}.charges WHERE session IN ({1}) AND "
            "charge_id GLOBAL NOT IN (SELECT charge_id FROM {0}.retired_charges WHERE session IN "
            "({1}) AND isNull(reversal)) GROUP BY billing_account_id").format(
                self._database, visible))
        there = {account: int(count) for account, count in rows}
        return [f"{account} has {there.get(account, 0)} lines, not {last.get(account, 0)}"
                for account in sorted(set(last) | set(there))
                if there.get(account, 0) != last.get(account, 0)]

    def read_replicas(self, shards):
        """Every server of a shard holds the same rows of what counts. `shards`: lists of servers."""
        sessions = [entry[2] for entry in self.log.entries if entry[3] != "condemned"]
        same = True
        for table in (*FACTS, "postings"):
            for servers in shards:
                held = [self._rows(server, table, sessions, local=True) for server in servers]
                same = same and all(rows == held[0] for rows in held)
        return same

    # -- what reports say -----------------------------------------------------------------------

    def states(self, first, last):
        """(billed cost by month, bill lines) after each position from `first` to `last`."""
        with self._lock:
            entries, imports, runs = self.log.entries, dict(self._imports), dict(self._runs)
            seen = dict(self._seen)
        current, lines, found = {}, 0, []
        for position in range(0, last + 1):
            if position > 0:
                _, _, session, what = entries[position - 1]
                if what == "run":
                    run = runs[session]
                    current[run["cluster"], run["month"]] = (
                        seen["postings", session][2] if int(run["postings"]) else "0")
                elif what == "import":
                    record = imports[session]
                    lines += (int(record["charges"]) + int(record["reversed"])
                              - int(record["removed"]))
            if position < first:
                continue
            months = collections.defaultdict(Decimal)
            for (_, month), billed in current.items():
                months[month] += Decimal(billed)
            found.append(({month: billed for month, billed in months.items() if billed}, lines))
        return found

    def check_report(self, text, first, last, where):
        """`report --by month --cost all --format csv`, asked between two readings of the log."""
        said = {row["month"]: Decimal(row["billed_cost"])
                for row in csv.DictReader(io.StringIO(text))
                if Decimal(row["billed_cost"] or 0)}
        states = self.states(first, last)
        if all(said != state for state, _ in states):
            self._wrong(f"{where}: the report says {said}, after none of the entries {first} to "
                        f"{last} it is that: {[state for state, _ in states][:5]}")
        self.readings["reports"] += 1

    def check_reconciliation(self, text, first, last, where):
        """`reconcile --format json`: a line is posted to its last digit, or not at all."""
        total = 0
        for table in json.loads(text) if text.strip() else []:
            match = COUNTED.search(table["title"])
            if not match:
                continue
            lines, _, off, never = (int(group.replace(",", "")) for group in match.groups())
            total += lines
            if off != never:
                self._wrong(f"{where}: {table['title']}: some are posted in part, or twice")
        states = self.states(first, last)
        if total not in [lines for _, lines in states]:
            self._wrong(f"{where}: reconcile knows {total} bill lines; after the entries {first} to "
                        f"{last} there are {[lines for _, lines in states][:5]}")
        self.readings["reconciliations"] += 1
