# SPDX-License-Identifier: MIT
"""mdoc - prose from header comments as mdoc(7) source, for make_man.py.

What the comments mark is known by its form: @parameter, sley_call(), -ERRNO,
SLEY_CONSTANT, *emphasis*, object->field, struct name.  A sentence starts on a
line of its own, as mdoc(7) asks.
"""
import re
import textwrap

OPENING, CLOSING = "([", ".,:;)]?!"
WIDTH = 78


def escape(text):
    """Characters that roff would take for itself."""
    text = text.replace("\\", "\\e")
    return re.sub(r"(?<![\w-])-(?=[\dA-Z])", r"\\-", text)


def line(text):
    """A text line that cannot be taken for a request."""
    return "\\&" + text if text[:1] in (".", "'") else text


def sentence(text):
    """With a capital letter in front and a full stop behind."""
    text = text.strip()
    if re.match(r"[a-z]+(?![\w(.]|->)", text):
        text = text[0].upper() + text[1:]
    return text if text[-1:] in (".", "?", "!", ":") else text + "."


def strip(text):
    """For places where no macros may be: no marks."""
    return escape(re.sub(r"\*(\w+)\*", r"\1", text.replace("@", "")))


def title(text):
    """A heading; a word in it that is a macro's name stays a word."""
    text = strip(text[0].upper() + text[1:])
    return re.sub(r"(?<!\S)(?=[A-Z][a-z](?!\S))", r"\\&", text)


class Writer:
    """Marks up words.  @local are the functions the page itself is about."""

    def __init__(self, known, local=()):
        self.known, self.local = set(known), set(local)

    def call(self, name, arguments):
        arguments = arguments.replace("@", "").strip()
        if name in self.known and name not in self.local and not arguments:
            return f"Xr {name} 3"
        words = "".join(f' "{a.strip()}"' if " " in a.strip()
                        else " " + a.strip()
                        for a in arguments.split(",") if a.strip())
        return f"Fn {name}{words}"

    def macro(self, core):
        """The macro for a word, or None if it is just a word."""
        if match := re.fullmatch(r"\*@(\w+)", core):
            return f"Pf * Fa {match.group(1)}"
        if match := re.fullmatch(r"@(\w+)", core):
            return f"Fa {match.group(1)}"
        if match := re.fullmatch(r"@?(\w+)\(([^()]*)\)", core):
            return self.call(match.group(1), match.group(2))
        if re.fullmatch(r"-E[A-Z0-9]+", core):
            return "Er \\" + core
        if re.fullmatch(r"SLEY_\w+|NULL|SIZE_MAX|UINT64_MAX", core):
            return f"Dv {core}"
        if match := re.fullmatch(r"\*([^*\s]+)\*", core):
            return f"Em {match.group(1)}"
        if re.fullmatch(r"@?\w+->[\w.]+|\.[a-z]\w+", core):
            return "Va " + core.replace("@", "")
        if re.fullmatch(r"struct \w+", core):
            return "Vt " + core
        return None

    def word(self, text):
        """A macro line for a word with its punctuation, or None."""
        before, after = [], []
        core = text
        while core and core[0] in OPENING:
            before.append(core[0])
            core = core[1:]
        while core and core[-1] in CLOSING:
            if core[-1] == ")" and core.count("(") == core.count(")"):
                break
            after.insert(0, core[-1])
            core = core[:-1]
        macro = self.macro(core)
        if not macro or (before and macro.startswith("Pf")):
            return None
        words = macro.split(" ")
        return "." + " ".join([words[0]] + before + words[1:] + after)

    def sentence(self, text):
        """One sentence as lines of mdoc."""
        out, plain = [], []

        def flush():
            if plain:
                out.extend(line(part) for part in textwrap.wrap(
                    " ".join(plain), WIDTH, break_long_words=False,
                    break_on_hyphens=False))
                plain.clear()

        # What belongs together although there is a space in it.
        text = re.sub(r"\bstruct (?=\w)", "struct\0", text)
        text = re.sub(r"\w+\([^()]*\)",
                      lambda m: m.group().replace(" ", "\0"), text)
        for word in text.split():
            word = word.replace("\0", " ")
            macro = self.word(word)
            if macro:
                flush()
                out.append(macro)
            else:
                plain.append(escape(word.replace("@", "")))
        flush()
        return out

    def text(self, text):
        """Sentences in one paragraph."""
        text = re.sub(r"([.!?][\"')]?)(?:  +|\n)", "\\1\1", text.strip())
        return [out for part in text.split("\1")
                for out in self.sentence(part)]

    def lines(self, lines):
        """Lines of a comment: paragraphs, lists, and displays."""
        out = []
        for kind, group in groups(lines):
            if out:
                out.append(".Pp")
            if kind == "display":
                if out:
                    out.pop()
                out += [".Bd -literal -offset indent"]
                out += [line(escape(text)) for text in group] + [".Ed"]
            elif kind == "list":
                if out:
                    out.pop()
                out.append(".Bl -bullet")
                for item in group:
                    out += [".It"] + self.text(item)
                out.append(".El")
            else:
                out += self.text("\n".join(group))
        return out


def groups(lines):
    """(kind, lines) of the paragraphs, lists and displays in a comment."""
    found = []
    for text in lines + [""]:
        kind = ("gap" if not text.strip()
                else "list" if text.startswith("- ")
                else "display" if re.match(r" {2,}|\t", text) else "text")
        last = found[-1][0] if found else None
        if kind == "display" and last == "list":
            found[-1][1][-1] += "\n" + text.strip()
        elif kind == last:
            found[-1][1].append(text[2:] if kind == "list" else text)
        else:
            found.append((kind, [text[2:] if kind == "list" else text]))
    return [(kind, textwrap.dedent("\n".join(group)).split("\n")
             if kind == "display" else group)
            for kind, group in found if kind != "gap"]
