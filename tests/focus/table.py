"""A FOCUS file as rows of texts: what every check reads.

A cell is its text, or None where the file holds null (in CSV: nothing between the commas, quoted or
not). Parquet is turned into the CSV that would say the same by the project's own DuckDB, and keeps
its physical types beside it. Nothing becomes a float.
"""
import csv
import os
import subprocess
import tempfile

NULL = "\\N of a parquet file"


class Unreadable(Exception):
    """The file as a whole can't be judged."""


class Table:
    def __init__(self, columns, rows, types=None, ragged=(), name=""):
        self.columns = columns      # as the header has them
        self.rows = rows            # of dicts: column to text or None
        self.types = types          # Parquet: column to physical type; CSV: None
        self.ragged = list(ragged)  # lines of another length than the header
        self.name = name
        self.column_set = set(columns)

    def line(self, at):
        """What to call row `at` for a person: a CSV's header is line 1."""
        return f"row {at + 1}"


def read(path, sql_tool=None):
    if not os.path.exists(path):
        raise Unreadable(f"{path}: no such file")
    if path.endswith(".parquet"):
        return _read_parquet(path, sql_tool)
    return _read_csv(path, "")


def _read_csv(path, null):
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            columns = next(reader)
            rows, ragged = [], []
            for values in reader:
                if len(values) != len(columns):
                    ragged.append(reader.line_num)
                    continue
                rows.append({column: None if value == null else value
                             for column, value in zip(columns, values)})
        except StopIteration:
            raise Unreadable(f"{path}: empty") from None
        except (csv.Error, UnicodeDecodeError) as error:
            raise Unreadable(f"{path}: {error}") from None
    return Table(columns, rows, ragged=ragged, name=path)


def _read_parquet(path, sql_tool):
    if not sql_tool:
        raise Unreadable(f"{path}: say with --sql-tool which program reads Parquet")
    if "'" in path:
        raise Unreadable(f"{path}: a quote in the path")
    with tempfile.TemporaryDirectory(prefix="focus-rules-") as folder:
        types = _query(sql_tool, folder, "types",
                       "SELECT column_name, column_type FROM "
                       f"(DESCRIBE SELECT * FROM read_parquet('{path}'))")
        types = {row["column_name"]: row["column_type"] for row in types.rows}
        cells = ", ".join(_as_text(column, kind) for column, kind in types.items())
        table = _query(sql_tool, folder, "rows", f"SELECT {cells} FROM read_parquet('{path}')")
    return Table(table.columns, table.rows, types=types, name=path)


def _as_text(column, kind):
    name = '"' + column.replace('"', '""') + '"'
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS {name}"
    if kind.startswith("TIMESTAMP"):
        return f"strftime({name}::TIMESTAMP, '%Y-%m-%dT%H:%M:%SZ') AS {name}"
    return f"{name}::VARCHAR AS {name}"


def _query(sql_tool, folder, name, select):
    out = os.path.join(folder, name + ".csv")
    statement = f"COPY ({select}) TO '{out}' (HEADER, NULL '{NULL}')"
    done = subprocess.run([sql_tool, os.path.join(folder, name + ".db"), statement],
                          capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise Unreadable(f"{sql_tool}: {done.stderr.strip()}")
    return _read_csv(out, NULL)
