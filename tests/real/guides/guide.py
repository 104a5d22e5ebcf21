"""A page of docs/guide, as its reader goes through it: its blocks of code, in their order."""
import dataclasses
import os
import pathlib
import subprocess

GUIDES = pathlib.Path(__file__).resolve().parents[3] / "docs" / "guide"


@dataclasses.dataclass
class Block:
    language: str  # "sh", "yaml", …; empty where none is named
    text: str
    before: str    # the line of text above it
    heading: str   # the section


def blocks(page):
    """All of a page; indented ones without their indentation."""
    found, inside, heading, before = [], None, "", ""
    for line in (GUIDES / page).read_text(encoding="utf-8").splitlines():
        bare = line.strip()
        if inside is None and bare.startswith("```"):
            inside = (bare[3:], len(line) - len(line.lstrip()), [])
        elif inside is not None and bare == "```":
            language, indent, lines = inside
            found.append(Block(language, "\n".join(one[indent:] for one in lines) + "\n", before,
                               heading))
            inside = None
        elif inside is not None:
            inside[2].append(line)
        elif line.startswith("#"):
            heading = line.lstrip("# ")
        elif bare:
            before = bare
    return found


class Reader:
    """Types what a page says into a shell, in a folder of its own.

    `instead`: what stands on the page, and what it is here: addresses, ports, names. What is not on
    the page, or is there and not typed, is an error, so that page and test stay together.
    """

    def __init__(self, page, folder, program, instead, env=None):
        self.folder = folder
        self.left = blocks(page)
        self.instead = instead
        self.used = set()
        places = folder / "bin"
        places.mkdir(exist_ok=True)
        (places / "pennyweight").symlink_to(pathlib.Path(program).resolve())
        base = {**os.environ, **(env or {})}
        self.env = {**base, "PATH": f"{places}:{base['PATH']}"}

    def block(self, having):
        """The first block left that has this text, as it is to be typed here."""
        for one in self.left:
            if having in one.text:
                self.left.remove(one)
                text = one.text
                for old, new in self.instead.items():
                    if old in text:
                        self.used.add(old)
                        text = text.replace(old, new)
                return text
        raise RuntimeError(f"the page has no (further) block with {having!r}")

    def file(self, name, having):
        path = self.folder / name
        path.write_text(self.block(having), encoding="utf-8")
        return path

    def passed_over(self, having, why):
        """A block that can't be tried here, and why."""
        self.block(having)
        print(f"not tried: {having!r}: {why}", flush=True)

    def watches(self, command, seconds=4):
        """A command that goes on until Ctrl-C: what it printed until then."""
        return self.types(f"timeout --preserve-status -s INT {seconds} {command} || [ $? = 130 ]")

    def types(self, command, patience=120, user=None):
        """A command of the page that ends by itself: what it prints."""
        done = subprocess.run(["bash", "-ec", command], cwd=self.folder, env=self.env, text=True,
                              capture_output=True, timeout=patience, user=user, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{command}\nexit {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def finished(self):
        """What the reader has not come to, and what stands in `instead` for nothing."""
        return ([f"a block that was not tried: {one.heading}: {one.text[:60]!r}"
                 for one in self.left]
                + [f"{one!r} is not on the page" for one in self.instead if one not in self.used])
