# SPDX-License-Identifier: MIT
"""mdsource - reading Markdown, for check_docs.py and run_docs.py.

What we use of it: fenced blocks with the comment that may stand above them,
headings, and links.
"""
import re

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})(?P<info>.*)$")
MARK = re.compile(r"<!--\s*test:((?:(?!-->).)*)-->\s*\Z", re.S)

LANGUAGES = {"c": "c", "c++": "c++", "cpp": "c++"}

QUOTED = r'"(?:\\.|[^"\\])*"'
WHY = r"\((?P<why>[^()]+(?:\([^()]*\)[^()]*)*)\)"


class Block:
    """A fenced block: its line is that of its first line of content."""

    def __init__(self, path, line, info, text, mark):
        self.path, self.line, self.text, self.mark = path, line, text, mark
        self.info = info.strip()
        word = (self.info.lower().split() or [""])[0]
        self.language = LANGUAGES.get(word)
        self.has_main = bool(re.search(r"^int main\b", text, re.M))


class Mark:
    """What the comment above a block asks for.

    kind is program, part, fragment, declarations, peer or shown.
    """

    def __init__(self, kind="program"):
        self.kind = kind
        self.language = None
        self.name = ""        # of a part or a peer
        self.prelude = ""     # of a fragment or of declarations
        self.why = ""         # it is not compiled
        self.output = []      # texts that must be printed, in this order
        self.aborts = None    # the text on stderr of a program that aborts


class MarkError(Exception):
    pass


def unquote(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n"
                  else m.group(1), text[1:-1])


def parse_mark(text):
    """The Mark for the text of a comment; MarkError if it is none."""
    mark = Mark()
    rest = text.strip()
    while rest:
        if match := re.match(r"c\+\+(?:\s+|\Z)", rest):
            mark.language = "c++"
        elif match := re.match(rf"output\s+({QUOTED})\s*", rest):
            mark.output.append(unquote(match.group(1)))
        elif match := re.match(rf"aborts\s+({QUOTED})\s*", rest):
            mark.aborts = unquote(match.group(1))
        elif match := re.match(r"part\s+([\w.-]+)\s*", rest):
            mark.kind, mark.name = "part", match.group(1)
        elif match := re.match(r"(fragment|declarations)\b(.*)", rest, re.S):
            mark.kind, mark.prelude = match.group(1), match.group(2).strip()
        elif match := re.match(rf"peer\s+([\w.+-]+)\s*(?:{WHY})?\s*", rest):
            mark.kind, mark.name = "peer", match.group(1)
            mark.why = match.group("why") or ""
        elif match := re.match(rf"shown\s+{WHY}\s*", rest):
            mark.kind, mark.why = "shown", match.group("why")
        else:
            raise MarkError(f"cannot read '{rest.split()[0]}'")
        rest = rest[match.end():]
    if mark.kind == "peer" and mark.name != "pthread" and not mark.why:
        raise MarkError(f"peer {mark.name} is not compiled: say (why)")
    return mark


def blocks(path, text):
    """The fenced blocks of a document."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = FENCE.match(lines[at])
        if not match:
            at += 1
            continue
        end = at + 1
        close = re.compile(r"^\s*" + re.escape(match["marks"][0])
                           + "{%d,}\\s*$" % len(match["marks"]))
        while end < len(lines) and not close.match(lines[end]):
            end += 1
        indent = len(match["indent"])
        content = [line[indent:] if not line[:indent].strip() else line
                   for line in lines[at + 1:end]]
        above = MARK.search("\n".join(lines[:at]).rstrip(" \t"))
        yield Block(path, at + 2, match["info"], "\n".join(content) + "\n",
                    above.group(1) if above else None)
        at = end + 1


def manual_blocks(path, text):
    """The programs in a manual page that is written by hand."""
    for match in re.finditer(r"^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", text,
                             re.M | re.S):
        code = re.sub(r"\\([e&-])", lambda m: {"e": "\\", "&": "", "-": "-"}[
            m.group(1)], match.group(1))
        block = Block(path, text.count("\n", 0, match.start(1)) + 1, "c", code,
                      None)
        if block.has_main:
            yield block


def prose(text):
    """text with fenced, indented and quoted code replaced by spaces."""
    out, fence = [], None
    for line in text.split("\n"):
        match = FENCE.match(line)
        if fence:
            closed = match and match["marks"].startswith(fence)
            fence = None if closed and not match["info"].strip() else fence
            line = ""
        elif match:
            fence, line = match["marks"], ""
        elif re.match(r"(    |\t)", line) and (not out or not out[-1].strip()):
            line = "    "  # white, and the next line is code, too
        out.append(line)
    text = "\n".join(out)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)",
                  lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def links(text):
    """(line, target) of each link and picture."""
    plain = prose(text)
    for match in re.finditer(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)"
                             r"|^\[[^\]]+\]:\s*<?(\S+?)>?\s*$"
                             r"|\b(?:src|href)=\"([^\"]+)\"", plain, re.M):
        target = next(group for group in match.groups() if group)
        yield plain.count("\n", 0, match.start()) + 1, target


def anchors(text):
    """The names that GitHub gives to the headings."""
    found = set()
    skeleton = re.sub(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[`~]*[ \t]*$", "",
                      text, flags=re.M | re.S)
    for heading in re.findall(r"^#{1,6}[ \t]+(.*?)[ \t]*#*$", skeleton, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        unique, nr = name, 0
        while unique in found:
            nr += 1
            unique = f"{name}-{nr}"
        found.add(unique)
    return found | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
