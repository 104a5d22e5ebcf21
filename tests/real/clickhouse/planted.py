"""Mistakes that are made on purpose, by hand in the tables or in the auditor's answers: each has to
be found, or the auditor finds nothing."""
import time

from harness import wait_until


class Planted:
    """`ledger` of test_faults.py, with a few imports and runs, on one server."""

    def __init__(self, ledger, server):
        self._ledger, self._server, self._database = ledger, server, ledger.database

    def kinds(self):
        return {
            "a posting is lost": self.lose_posting,
            "a bill line is doubled": self.double_line,
            "a commit is hidden": self.hide_commit,
            "half a run is shown": self.show_half_run,
            "an import without its rows is shown": self.show_empty_import,
            "a posting says another amount": self.change_amount,
            "an answer without a commit": self.lie_of_success,
            "a refusal that counts": self.lie_of_refusal}

    def _ask(self, sql):
        return self._server.ask(sql.replace("DB.", self._database + "."))

    def _last(self, what):
        return [entry[2] for entry in self._ledger.auditor.log.entries if entry[3] == what][-1]

    def _mutate(self, sql):
        self._ask(sql)
        wait_until("the tables are changed", lambda: self._ask(
            "SELECT count() FROM system.mutations WHERE is_done = 0") == [["0"]])

    def _some_posting(self):
        session = self._last("run")
        charge = self._ask(f"SELECT hex(charge_id) FROM DB.postings WHERE session = {session} "
                           "LIMIT 1")[0][0]
        return f"session = {session} AND hex(charge_id) = '{charge}'"

    def _copy(self, table, session, rest=""):
        """Rows of a session once more, under the number 77."""
        names = [row[0] for row in self._ask(
            f"SELECT name FROM system.columns WHERE database = '{self._database}' AND "
            f"table = '{table}'")]
        kept = ", ".join(name for name in names if name != "session")
        self._ask(f"INSERT INTO DB.{table} (session, {kept}) SELECT 77, {kept} FROM DB.{table} "
                  f"WHERE session = {session} {rest}")

    def _commit(self, what):
        position = len(self._ledger.auditor.log) + 1
        self._ask("INSERT INTO DB.log (kind, turn, writer, position, prefix, session, what, at) "
                  f"SELECT 'sealed', max(turn), 1, {position}, '', 77, '{what}', "
                  f"{int(time.time() * 1000)} FROM DB.log")

    def lose_posting(self):
        self._mutate(f"ALTER TABLE DB.postings DELETE WHERE {self._some_posting()}")

    def double_line(self):
        self._ask("INSERT INTO DB.charges SELECT * FROM DB.charges WHERE session IN "
                  "(SELECT session FROM DB.log WHERE what = 'import') LIMIT 1")

    def hide_commit(self):
        self._mutate("ALTER TABLE DB.log DELETE WHERE kind = 'sealed' AND position = "
                     f"{len(self._ledger.auditor.log)}")

    def show_half_run(self):
        session = self._last("run")
        self._copy("runs", session)
        self._copy("postings", session, "LIMIT 2")
        self._commit("run")

    def show_empty_import(self):
        session = self._last("import")
        self._copy("imports", session)
        self._commit("import")

    def change_amount(self):
        self._mutate("ALTER TABLE DB.postings UPDATE billed_cost = billed_cost + "
                     f"toDecimal128('0.01', 18) WHERE {self._some_posting()}")

    def lie_of_success(self):
        self._ledger.auditor.begins("never", self._ledger.sent[0])
        self._ledger.auditor.record_answer("never", "acknowledged")

    def lie_of_refusal(self):
        name = self._ledger.auditor._imports[self._last("import")]["name"]
        self._ledger.auditor.record_answer(name, "refused")
